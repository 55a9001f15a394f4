//! What an account may have, and what its owner said, decide what is proposed.

use alerts::engine::Dividend;
use alerts::{ConditionKind, Family, Plan};
use analyst::{Advice, Intention, Role, advise};
use jiff::civil::date;

use crate::support::{Stage, assert_sound, bars, fires_at_once, price};

/// A year that ends on 2022-01-03 rising, with earnings and an ex-date ahead.
fn stage() -> Stage {
    let closes: Vec<i64> = (0..252)
        .map(|day: i64| 100_000_000 + 100_000 * day + 2_000_000 * (day % 20 - 10).abs())
        .collect();
    let mut stage = Stage::of(bars(&closes, &[600_000], &[1_000, 2_000, 1_500]));
    stage.earnings = vec![date(2021, 10, 20), date(2022, 1, 20), date(2022, 4, 20)];
    stage.dividends = vec![Dividend {
        ex_date: date(2022, 1, 12),
        payment_date: None,
        amount: Some("0.24".parse().unwrap()),
    }];
    stage
}

fn advice(stage: &Stage, intention: Intention) -> Advice {
    let subject = stage.subject(intention);
    let advice = advise(&subject);
    assert_sound(&subject, &advice);
    assert_eq!(fires_at_once(stage, &subject, &advice.proposals), []);
    advice
}

fn kinds(advice: &Advice) -> Vec<ConditionKind> {
    advice
        .proposals
        .iter()
        .map(|proposal| proposal.alert.condition.kind())
        .collect()
}

#[test]
fn a_basic_account_gets_price_and_time_alerts_only_and_a_reminder_on_the_eve_of_a_date() {
    let mut stage = stage();
    stage.plan = Plan::Basic;
    for &intention in Intention::ALL {
        let advice = advice(&stage, intention);
        let is_free = |kind: &ConditionKind| matches!(kind.family(), Family::Price | Family::Time);
        assert!(kinds(&advice).iter().all(is_free));
        let reminder = advice
            .proposals
            .iter()
            .find(|proposal| proposal.body["condition"] == "reminder")
            .unwrap();
        assert_eq!(reminder.body["parameters"]["date"], "2022-01-11");
    }
}

#[test]
fn a_premium_account_is_told_of_dates_by_alerts_on_them() {
    let advice = advice(&stage(), Intention::Buy);
    let event = advice
        .proposals
        .iter()
        .find(|proposal| proposal.role == Role::Event)
        .unwrap();
    assert_eq!(
        (&event.body["condition"], &event.body["threshold"]),
        (&"dividend_ex_date".into(), &5.into())
    );
    assert!(
        event.rationale.contains("2022-01-12") && event.rationale.contains("0.24 dollars"),
        "{}",
        event.rationale
    );
    assert_eq!(advice.analysis.events.earnings.unwrap().date, date(2022, 1, 20));
}

#[test]
fn a_date_that_is_too_near_to_warn_of_is_left_out() {
    let mut stage = stage();
    (stage.dividends, stage.earnings) = (Vec::new(), vec![stage.calendar.session_at(stage.now).unwrap().date]);
    assert_eq!(
        kinds(&advice(&stage, Intention::Buy))
            .iter()
            .filter(|kind| kind.family() == Family::Dividend)
            .count(),
        0
    );
    stage.earnings = vec![stage.earnings[0].checked_add(jiff::Span::new().days(2)).unwrap()];
    let told = advice(&stage, Intention::Buy);
    let event = told
        .proposals
        .iter()
        .find(|proposal| proposal.role == Role::Event)
        .unwrap();
    assert_eq!(event.body["threshold"], 1);
}

#[test]
fn proposals_end_where_the_plan_has_no_room() {
    let mut stage = stage();
    stage.plan = Plan::Basic;
    for (active, most) in [(0, 5), (17, 3), (18, 2), (19, 1), (20, 0), (25, 0)] {
        stage.active_alerts = active;
        let count = advice(&stage, Intention::Sell).proposals.len();
        assert!(
            count <= most && (most > 2 || count == most),
            "{active} active, {count} proposed"
        );
    }
}

#[test]
fn the_owners_own_price_comes_first_if_it_is_still_to_come() {
    let mut stage = stage();
    for (intention, ahead, behind) in [(Intention::Buy, "100.123", "200"), (Intention::Sell, "160.5", "100")] {
        stage.target_price = Some(price(ahead));
        let first = &advice(&stage, intention).proposals[0];
        assert_eq!(
            (first.role, first.body["threshold"].to_string()),
            (Role::OwnTarget, ahead.to_owned())
        );
        stage.target_price = Some(price(behind));
        let roles: Vec<_> = advice(&stage, intention)
            .proposals
            .iter()
            .map(|proposal| proposal.role)
            .collect();
        assert!(!roles.contains(&Role::OwnTarget));
    }
}

#[test]
fn the_same_subject_gets_the_same_advice() {
    let stage = stage();
    assert_eq!(advice(&stage, Intention::Buy), advice(&stage, Intention::Buy));
}

#[test]
fn a_date_beyond_the_horizon_and_a_dividend_of_next_to_nothing_are_no_news() {
    let mut stage = stage();
    let events = |stage: &Stage| {
        advice(stage, Intention::Buy)
            .proposals
            .iter()
            .filter(|proposal| proposal.role == Role::Event)
            .count()
    };
    let dividends = std::mem::take(&mut stage.dividends);
    for (day, expected) in [(date(2022, 2, 7), 1), (date(2022, 2, 8), 0)] {
        stage.earnings = vec![day];
        assert_eq!(events(&stage), expected, "{day}");
    }
    // A tenth of a percent of the price of 127.10.
    stage.dividends = dividends;
    for (amount, expected) in [("0.1271", 1), ("0.1270", 0)] {
        stage.dividends[0].amount = Some(amount.parse().unwrap());
        assert_eq!(events(&stage), expected, "{amount}");
    }
}

#[test]
fn an_rsi_alert_lies_where_the_rsi_can_come_to_within_the_horizon() {
    let threshold = |closes: &[i64], intention: Intention| {
        let stage = Stage::of(bars(closes, &[100_000], &[1_000]));
        let proposals = advice(&stage, intention).proposals;
        let rsi = proposals
            .into_iter()
            .find(|proposal| proposal.body["condition"] == "rsi_limit")
            .unwrap();
        (
            rsi.body["threshold"].as_i64().unwrap(),
            rsi.body["parameters"]["direction"].as_str().unwrap().to_owned(),
        )
    };
    let steps = |up: i64, down: i64| -> Vec<i64> {
        let moves = (0..40).map(|day| if day % 3 == 0 { down } else { up });
        moves
            .scan(100_000_000, |price, step| {
                *price += step;
                Some(*price)
            })
            .collect()
    };
    let (rising, falling, calm) = (
        steps(500_000, -100_000),
        steps(-500_000, 100_000),
        steps(200_000, -390_000),
    );
    assert_eq!(threshold(&rising, Intention::Buy), (40, "below".into()));
    assert_eq!(threshold(&rising, Intention::Sell), (50, "below".into()));
    assert_eq!(threshold(&falling, Intention::Buy), (50, "above".into()));
    assert_eq!(threshold(&falling, Intention::Sell), (60, "above".into()));
    assert_eq!(threshold(&calm, Intention::Buy), (30, "below".into()));
    assert_eq!(threshold(&calm, Intention::Sell), (70, "above".into()));
}
