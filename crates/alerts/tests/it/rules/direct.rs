//! Rules whose conditions are no expressions, at the edges of their definitions.

use alerts::condition::{BuzzDirection, DeliveryTime, InsiderCriteria, InsiderDirection, RsiDirection, Side};
use alerts::engine::{AlertAction, Decision, EvaluationIssue, EvaluationStatus, Event, Feed, InsiderTrade};
use alerts::expression::Truth;
use alerts::lifecycle::{Lifecycle, WaitReason};
use alerts::options::restore_options;
use alerts::{Alert, Condition};
use jiff::{Timestamp, ToSpan};
use market::{Bar, Price};
use serde_json::{Value, json};

use super::market::{NOW, RuleMarket, blind, firings, symbol, waiting};
use crate::common::{alert, at, decimal, id};

/// Returns an alert on ACME that is created at an instant.
fn rule(number: u32, condition: Condition, options: &Value, now: &str) -> Alert {
    let options = restore_options(options).unwrap().of_condition(&condition);
    let state = match condition {
        Condition::SocialBuzz(_) => Lifecycle::new_on_change(at(now)),
        _ => Lifecycle::new(at(now), None, None),
    };
    Alert {
        options,
        lifecycle: Some(Box::new(state)),
        ..alert(number, symbol("ACME"), condition, at(now))
    }
}

fn reasons(decisions: &[Decision]) -> Vec<String> {
    let reason = |decision: &Decision| match &decision.action {
        AlertAction::FireRule { reason, .. } => Some(reason.to_string()),
        _ => None,
    };
    decisions.iter().filter_map(reason).collect()
}

fn minute(minute: u8) -> String {
    format!("2024-07-01T15:{minute:02}:00Z")
}

fn golden() -> Condition {
    Condition::MaCrossover { side: Side::Above }
}

/// With 200 equal closes the averages are equal at the last session, so each price above them is a golden cross.
fn equal_averages() -> RuleMarket {
    RuleMarket::new().with_closes("ACME", std::iter::repeat_n(100, 200))
}

#[test]
fn golden_cross_fires_each_time_and_in_one_session_only() {
    let mut market = equal_averages();
    market.arm(&rule(1, golden(), &json!({"repeat": "each_time"}), NOW), NOW);
    let reason = "golden cross: the 50-day average 100.02 is above the 200-day average 100.01";
    for (price, at_minute, expected) in [
        ("100", 1, None),
        ("101", 2, Some(reason)),
        ("101", 5, None),
        ("100", 6, None),
        (
            "100.000001",
            7,
            Some("golden cross: the 50-day average 100.00 is above the 200-day average 100.00"),
        ),
    ] {
        let fired = reasons(&market.observe("ACME", price, &minute(at_minute)));
        assert_eq!(
            fired,
            expected.into_iter().map(str::to_owned).collect::<Vec<_>>(),
            "{price} {at_minute}"
        );
    }
    let close: Price = "101".parse().unwrap();
    let bar = Bar {
        date: "2024-07-01".parse().unwrap(),
        open: close,
        high: close,
        low: close,
        close,
        volume: 1,
    };
    let acme = symbol("ACME");
    market.process(Event::Bar { symbol: acme, bar }, "2024-07-01T20:30:00Z");
    // At the last session the average was above already.
    for price in ["102", "99", "103"] {
        assert_eq!(
            firings(&market.observe("ACME", price, "2024-07-02T15:00:00Z")),
            [],
            "{price}"
        );
    }
}

#[test]
fn too_few_sessions_are_the_issue_of_a_cross() {
    let mut market = RuleMarket::new().with_closes("ACME", std::iter::repeat_n(100, 199));
    market.observe("ACME", "101", NOW);
    market.arm(&rule(1, golden(), &json!({"repeat": "each_time"}), NOW), NOW);
    let issue = EvaluationIssue::TooLittleHistory { have: 199, need: 200 };
    assert_eq!(market.status(1, NOW), waiting(issue));
    let found = market.engine.explain(id(1), at(NOW)).unwrap();
    assert_eq!((found.truth, found.wait), (Truth::Unknown, Some(WaitReason::NoData)));
}

#[test]
fn cross_is_explained_with_the_averages_now_and_at_the_last_session() {
    let mut market = equal_averages();
    market.observe("ACME", "99", NOW);
    market.arm(&rule(1, golden(), &json!({"repeat": "each_time"}), NOW), NOW);
    let found = market.engine.explain(id(1), at(NOW)).unwrap();
    let terms: Vec<_> = found
        .terms
        .iter()
        .map(|term| (term.text.as_str(), term.left.unwrap(), term.right.unwrap(), term.holds))
        .collect();
    assert_eq!(
        terms,
        [
            ("sma(50) > sma(200)", decimal("99.98"), decimal("99.995"), Some(false)),
            (
                "sma(50) <= sma(200) at the last completed session",
                decimal("100"),
                decimal("100"),
                Some(true)
            ),
        ]
    );
    assert_eq!(found.distance_pct, Some(decimal("0.015003")));
    // The same without options.
    market.arm(&alert(2, symbol("ACME"), golden(), at(NOW)), NOW);
    assert_eq!(market.engine.explain(id(2), at(NOW)).unwrap().terms, found.terms);
}

#[test]
fn rsi_fires_on_each_side_that_it_was_not_on() {
    let condition = Condition::Rsi {
        direction: RsiDirection::Both,
        threshold: decimal("50"),
    };
    // Equal gains and losses: at the last close the RSI is 50.
    let closes = (0..15).map(|place| 100 + place % 2);
    let mut market = RuleMarket::new().with_closes("ACME", closes);
    market.arm(&rule(1, condition, &json!({"repeat": "each_time"}), NOW), NOW);
    for (price, at_minute, fires) in [
        // Exactly at the threshold it is on neither side.
        ("100", 1, false),
        ("101", 2, false),
        ("100.000001", 3, false),
        ("100", 4, true),
        ("101", 6, false),
        ("99", 8, true),
        ("98", 10, false),
        ("100", 12, true),
    ] {
        let fired = reasons(&market.observe("ACME", price, &minute(at_minute)));
        assert_eq!(!fired.is_empty(), fires, "{price} {at_minute} {fired:?}");
    }
}

#[test]
fn other_side_counts_after_a_cooldown_and_the_hold_begins_anew() {
    let condition = Condition::Rsi {
        direction: RsiDirection::Both,
        threshold: decimal("50"),
    };
    let closes = (0..15).map(|place| 100 + place % 2);
    let mut market = RuleMarket::new().with_closes("ACME", closes);
    let options = json!({"repeat": "each_time", "cooldown": "10m", "hold": "2m"});
    market.arm(&rule(1, condition, &options, NOW), NOW);
    for (price, at_minute, fires) in [
        ("99", 1, false),
        ("101", 2, false),
        ("99", 3, false),
        ("101", 4, false),
        ("101", 6, true),
        ("99", 7, false),
        ("99", 15, false),
        ("99", 16, true),
    ] {
        let fired = firings(&market.observe("ACME", price, &minute(at_minute)));
        assert_eq!(!fired.is_empty(), fires, "{price} {at_minute}");
    }
}

/// Counts mentions of hours that end at an hour after the first of July.
fn mention(market: &mut RuleMarket, hours: std::ops::Range<i64>, count: u32) -> usize {
    let start = at("2024-07-01T00:00:00Z");
    let mut fired = 0;
    for hour in hours {
        let hour = start + hour.hours();
        let symbol = symbol("ACME");
        let event = Event::Mentions { symbol, hour, count };
        fired += firings(&market.process(event, &hour.to_string())).len();
    }
    fired
}

#[test]
fn discussion_fires_on_each_change_into_its_state() {
    let mut market = RuleMarket::new();
    mention(&mut market, -200..0, 1);
    let rising = Condition::SocialBuzz(BuzzDirection::Rising);
    let made = rule(
        1,
        rising.clone(),
        &json!({"repeat": "each_time"}),
        "2024-07-01T00:00:00Z",
    );
    assert_eq!(market.process(Event::Armed(&made), "2024-07-01T00:00:00Z").len(), 1);
    // Usual are 24 a day; 47 mentions are one too few.
    assert_eq!(mention(&mut market, 0..1, 23), 0);
    assert_eq!(mention(&mut market, 1..2, 3), 1);
    // An alert that is made now waits for the next time.
    let late = rule(2, rising, &json!({"repeat": "each_time"}), "2024-07-01T01:30:00Z");
    market.arm(&late, "2024-07-01T01:30:00Z");
    let found = market.engine.explain(id(2), at("2024-07-01T01:30:00Z")).unwrap();
    assert_eq!(
        (found.truth, found.wait),
        (Truth::True, Some(WaitReason::WaitingForChange))
    );
    assert_eq!(mention(&mut market, 2..24, 1), 0);
    assert_eq!(mention(&mut market, 24..48, 1), 0);
    assert_eq!(mention(&mut market, 48..49, 60), 2);
}

fn purchase(market: &mut RuleMarket, insider: &str, filed_on: &str, now: &str) -> Vec<Timestamp> {
    let trade = InsiderTrade {
        filed_on: filed_on.parse().unwrap(),
        insider: insider.to_owned(),
        bought: true,
        open_market: true,
        value_usd: decimal("500"),
    };
    let symbol = symbol("ACME");
    let trades = [trade];
    firings(&market.process(
        Event::InsiderTrades {
            symbol,
            trades: &trades,
        },
        now,
    ))
}

#[test]
fn insiders_fire_each_time_that_enough_of_them_have_traded() {
    let cluster = Condition::InsiderTransactions(InsiderCriteria {
        threshold_usd: decimal("1000"),
        direction: InsiderDirection::Buy,
        min_executives: 2,
        window_days: 2,
        open_market_only: true,
    });
    let mut market = RuleMarket::new();
    market.arm(&rule(1, cluster, &json!({"repeat": "each_time"}), NOW), NOW);
    assert_eq!(
        market.status(1, NOW),
        blind(EvaluationIssue::NeverDelivered(Feed::Insiders))
    );
    assert_eq!(purchase(&mut market, "A", "2024-07-01", NOW), []);
    // The value is reached, the number of insiders is not.
    assert_eq!(purchase(&mut market, "A", "2024-07-01", &minute(1)), []);
    assert_eq!(purchase(&mut market, "B", "2024-07-01", &minute(2)), [at(&minute(2))]);
    assert_eq!(market.status(1, NOW), EvaluationStatus::Ok);
    assert_eq!(purchase(&mut market, "C", "2024-07-01", &minute(9)), []);
    let found = market.engine.explain(id(1), at(&minute(9))).unwrap();
    let texts: Vec<_> = found.terms.iter().map(|term| term.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "USD bought by insiders within 2 days >= 1000",
            "insiders who bought within 2 days >= 2"
        ]
    );
    // The trades have left the window.
    assert_eq!(firings(&market.process(Event::Clock, "2024-07-03T04:00:00Z")), []);
    let next = "2024-07-03T15:00:00Z";
    assert_eq!(purchase(&mut market, "A", "2024-07-03", next), []);
    assert_eq!(purchase(&mut market, "D", "2024-07-03", next), [at(next)]);
}

const OPENS: [&str; 3] = ["2024-07-02T13:30:00Z", "2024-07-03T13:30:00Z", "2024-07-05T13:30:00Z"];

fn at_open() -> Condition {
    Condition::DailyReminder(DeliveryTime::MarketOpen)
}

#[test]
fn daily_reminder_ends_with_its_last_firing() {
    let mut market = RuleMarket::new();
    market.arm(
        &rule(1, at_open(), &json!({"max_firings": 2, "repeat": "each_time"}), NOW),
        NOW,
    );
    assert_eq!(market.engine.next_moment(), Some(at(OPENS[0])));
    let first = market.process(Event::Clock, OPENS[0]);
    assert_eq!(reasons(&first), ["daily reminder: the market opens"]);
    assert_eq!(market.engine.next_moment(), Some(at(OPENS[1])));
    let second = market.process(Event::Clock, OPENS[1]);
    assert!(matches!(second[0].action, AlertAction::FireRule { is_last: true, .. }));
    assert_eq!(market.engine.next_moment(), None);
}

#[test]
fn daily_reminder_expires_at_the_instant_itself() {
    for (expiry, expected) in [(OPENS[1], 1), ("2024-07-03T13:30:01Z", 2)] {
        let mut market = RuleMarket::new();
        market.arm(&rule(1, at_open(), &json!({"expires_at": expiry}), NOW), NOW);
        let mut decisions = Vec::new();
        for now in OPENS {
            decisions.extend(market.process(Event::Clock, now));
        }
        assert_eq!(firings(&decisions).len(), expected, "{expiry}");
        let last = decisions.last().unwrap();
        assert!(matches!(last.action, AlertAction::Expire { at: found } if found == at(expiry)));
    }
}

#[test]
fn missed_moments_are_one_reminder_before_the_expiry_that_was_missed_too() {
    let mut market = RuleMarket::new();
    let options = json!({"expires_at": "2024-07-05T20:00:00Z"});
    market.arm(&rule(1, at_open(), &options, NOW), NOW);
    let decisions = market.process(Event::Clock, "2024-07-08T15:00:00Z");
    assert_eq!(firings(&decisions), [at(OPENS[0])]);
    assert!(matches!(decisions.last().unwrap().action, AlertAction::Expire { .. }));
}

#[test]
fn snoozed_and_cooling_daily_reminders_skip_their_moments() {
    let mut market = RuleMarket::new();
    market.arm(&rule(1, at_open(), &json!({"snoozed_until": OPENS[1]}), NOW), NOW);
    market.arm(
        &rule(2, at_open(), &json!({"cooldown": "2d", "repeat": "each_time"}), NOW),
        NOW,
    );
    let fired = OPENS.map(|now| {
        let decisions = market.process(Event::Clock, now);
        let fired = decisions
            .iter()
            .filter(|decision| !firings(&[(*decision).clone()]).is_empty());
        fired.map(|decision| decision.alert).collect::<Vec<_>>()
    });
    assert_eq!(fired, [vec![id(2)], vec![id(1)], vec![id(1), id(2)]]);
}

#[test]
fn snoozed_reminder_comes_at_the_end_of_its_snooze() {
    let due = "2024-07-01T16:00:00Z";
    let reminder = Condition::Reminder { at: at(due) };
    for (end, expected) in [
        ("2024-07-01T15:59:59Z", due),
        ("2024-07-01T18:00:00Z", "2024-07-01T18:00:00Z"),
    ] {
        let mut market = RuleMarket::new();
        market.arm(&rule(1, reminder.clone(), &json!({"snoozed_until": end}), NOW), NOW);
        let mut decisions = Vec::new();
        while let Some(next) = market.engine.next_moment() {
            decisions.extend(market.process(Event::Clock, &next.to_string()));
        }
        assert_eq!(firings(&decisions), [at(expected)], "{end}");
        let mut market = RuleMarket::new();
        market.arm(&rule(1, reminder.clone(), &json!({"snoozed_until": end}), NOW), NOW);
        // After an outage it is judged late, as of its instant.
        let decisions = market.process(Event::Clock, "2024-07-02T12:00:00Z");
        assert_eq!(firings(&decisions), [at(expected)], "{end}");
    }
}
