//! The option `session: extended`: the hours before the open and after the close.

use alerts::engine::{Decision, EvaluationIssue, EvaluationStatus, Event, EventError, ExtendedQuote};
use alerts::options::{SessionScope, TriggerPrice};
use jiff::Timestamp;
use market::Bar;
use serde_json::{Value, json};

use super::market::{NOW, RuleMarket, blind, firings, rule, symbol, waiting};
use crate::common::{at, id, price};

/// Monday, 2024-07-01, 17:00 in New York.
const EVENING: &str = "2024-07-01T21:00:00Z";

fn extended() -> Value {
    json!({"session": "extended", "repeat": "each_time"})
}

impl RuleMarket {
    fn extended_quote(&mut self, stock: &str, text: &str) -> ExtendedQuote {
        ExtendedQuote {
            stock: self.engine.stock(symbol(stock)),
            price: price(text),
            bid: None,
            ask: None,
        }
    }

    fn observe_extended(&mut self, stock: &str, text: &str, now: &str) -> Vec<Decision> {
        let quote = self.extended_quote(stock, text);
        self.process(Event::ExtendedSnapshot(&[quote]), now)
    }
}

/// Returns a market with closes of 100 in which ACME was last observed at 100 in the session of [`NOW`].
fn observed_market() -> RuleMarket {
    let mut market = RuleMarket::new().with_closes("ACME", std::iter::repeat_n(100, 20));
    market.observe("ACME", "100", NOW);
    market
}

fn fires(when: &str, text: &str, now: &str) -> bool {
    let mut market = observed_market();
    market.arm(&rule(1, when, &extended()), NOW);
    !firings(&market.observe_extended("ACME", text, now)).is_empty()
}

#[test]
fn extended_hours_begin_and_end_to_the_second() {
    for (now, is_extended) in [
        ("2024-07-01T20:00:00Z", false),
        ("2024-07-01T20:00:01Z", true),
        ("2024-07-02T00:00:00Z", true),
        ("2024-07-02T00:00:01Z", false),
        ("2024-07-02T07:59:59Z", false),
        ("2024-07-02T08:00:00Z", true),
        ("2024-07-02T13:29:59Z", true),
        ("2024-07-02T13:30:00Z", false),
        // An early close.
        ("2024-07-03T17:00:00Z", false),
        ("2024-07-03T17:00:01Z", true),
        ("2024-07-04T00:00:00Z", true),
        ("2024-07-04T00:00:01Z", false),
        // A holiday.
        ("2024-07-04T12:00:00Z", false),
    ] {
        let mut market = observed_market();
        market.arm(&rule(1, "price < 97", &extended()), NOW);
        let quote = market.extended_quote("ACME", "96");
        let mut decisions = Vec::new();
        let outcome = market
            .engine
            .process(Event::ExtendedSnapshot(&[quote]), at(now), &mut decisions);
        if is_extended {
            assert_eq!((outcome, firings(&decisions)), (Ok(()), vec![at(now)]), "{now}");
        } else {
            assert_eq!(outcome, Err(EventError::NotInExtendedHours), "{now}");
            assert!(decisions.is_empty(), "{now}");
        }
    }
}

#[test]
fn regular_alert_does_not_fire_in_extended_hours() {
    let mut market = observed_market();
    market.arm(&rule(1, "price < 97", &json!({"repeat": "each_time"})), NOW);
    assert!(!market.engine.follows_extended_hours(symbol("ACME")));
    assert_eq!(market.observe_extended("ACME", "96", EVENING), []);
    // Nor because another alert is judged by the same price.
    market.arm(&rule(2, "price < 97", &extended()), NOW);
    let decisions = market.observe_extended("ACME", "96", "2024-07-01T21:01:00Z");
    let fired: Vec<_> = decisions.iter().map(|decision| decision.alert).collect();
    assert_eq!(fired, [id(2)]);
    assert_eq!(market.process(Event::Evaluate, "2024-07-01T21:01:01Z"), []);
}

#[test]
fn price_after_the_close_is_compared_with_that_close() {
    for (when, text, expected) in [
        ("change_pct(prev_close) <= -3", "97.01", false),
        ("change_pct(prev_close) <= -3", "97", true),
        ("prev_close >= 100 and price > 1", "97", true),
        // Averages have the price as the close of the session to come.
        ("sma(2) <= 95", "90.01", false),
        ("sma(2) <= 95", "90", true),
        ("drawdown(20) > 3", "97", false),
        ("drawdown(20) > 3", "96.9", true),
        ("high_52w <= 100 and price > high_52w", "100.01", true),
    ] {
        assert_eq!(fires(when, text, EVENING), expected, "{when} at {text}");
    }
}

#[test]
fn figures_of_the_session_have_no_value_before_the_open() {
    for metric in ["open", "high", "low", "volume", "rvol", "gap_pct", "change_pct(open)"] {
        for now in [EVENING, "2024-07-02T12:00:00Z"] {
            assert!(!fires(&format!("{metric} > -100"), "96", now), "{metric} at {now}");
            assert!(
                fires(&format!("{metric} > -100 or price < 97"), "96", now),
                "{metric} at {now}"
            );
        }
    }
}

#[test]
fn regular_session_replaces_the_extended_price() {
    let mut market = observed_market();
    market.arm(&rule(1, "price < 97", &extended()), NOW);
    market.observe_extended("ACME", "99", "2024-07-02T13:29:00Z");
    assert!(market.engine.extended_price(symbol("ACME")).is_some());
    assert_eq!(
        firings(&market.observe("ACME", "96", "2024-07-02T13:30:00Z")),
        [at("2024-07-02T13:30:00Z")]
    );
    assert_eq!(market.engine.extended_price(symbol("ACME")), None);
    // The alert is now judged as any other.
    assert_eq!(firings(&market.observe("ACME", "98", "2024-07-02T13:31:00Z")), []);
    assert_eq!(
        firings(&market.observe("ACME", "96", "2024-07-02T13:32:00Z")),
        [at("2024-07-02T13:32:00Z")]
    );
}

#[test]
fn bar_that_arrives_after_the_close_corrects_it() {
    let mut market = observed_market();
    market.arm(&rule(1, "change_pct(prev_close) <= -3", &extended()), NOW);
    assert_eq!(firings(&market.observe_extended("ACME", "97.5", EVENING)), []);
    let close = price("101");
    let bar = Bar {
        date: jiff::civil::date(2024, 7, 1),
        open: close,
        high: close,
        low: close,
        close,
        volume: 5,
    };
    let symbol = symbol("ACME");
    assert!(!market.engine.has_delivered_bar(symbol, bar.date));
    market.process(Event::Bar { symbol, bar }, "2024-07-01T21:00:30Z");
    assert!(market.engine.has_delivered_bar(symbol, bar.date));
    // The price of the last minute is judged again with the corrected close.
    let decisions = market.process(Event::Evaluate, "2024-07-01T21:00:31Z");
    assert_eq!(firings(&decisions), [at("2024-07-01T21:00:31Z")]);
}

#[test]
fn hold_counts_extended_hours_across_the_close() {
    let options = json!({"session": "extended", "hold": "30m"});
    let mut market = observed_market();
    market.arm(&rule(1, "price < 97", &options), NOW);
    assert_eq!(firings(&market.observe("ACME", "96", "2024-07-01T19:45:00Z")), []);
    assert_eq!(
        firings(&market.observe_extended("ACME", "96", "2024-07-01T20:14:59Z")),
        []
    );
    // It ends without an observation, because the price is fresh.
    market.process(Event::Clock, "2024-07-01T20:15:00Z");
    let decisions = market.process(Event::Evaluate, "2024-07-01T20:15:00Z");
    assert_eq!(firings(&decisions), [at("2024-07-01T20:15:00Z")]);
}

#[test]
fn evaluation_is_no_second_price_in_extended_hours() {
    let mut market = observed_market();
    let options = json!({"session": "extended", "trigger": "two_lasts"});
    market.arm(&rule(1, "price < 97", &options), NOW);
    assert_eq!(firings(&market.observe_extended("ACME", "96", EVENING)), []);
    // Another rule of the stock lets all be judged again.
    market.arm(&rule(2, "price < 50", &extended()), EVENING);
    assert_eq!(firings(&market.process(Event::Evaluate, EVENING)), []);
    let second = market.observe_extended("ACME", "96", "2024-07-01T21:00:01Z");
    assert_eq!(firings(&second).len(), 1);
}

#[test]
fn evaluation_is_no_first_price_in_extended_hours() {
    let mut market = observed_market();
    market.observe_extended("ACME", "96", EVENING);
    let options = json!({"session": "extended", "trigger": "two_lasts"});
    market.arm(&rule(1, "price < 97", &options), EVENING);
    assert_eq!(firings(&market.process(Event::Evaluate, EVENING)), []);
    for (now, fires) in [("2024-07-01T21:00:01Z", false), ("2024-07-01T21:00:02Z", true)] {
        assert_eq!(
            !firings(&market.observe_extended("ACME", "96", now)).is_empty(),
            fires,
            "{now}"
        );
    }
}

#[test]
fn stale_price_is_not_judged_again() {
    for (end, is_fresh) in [("2024-07-01T21:15:00Z", true), ("2024-07-01T21:15:01Z", false)] {
        let options = json!({"session": "extended", "hold": "15m"});
        let mut market = observed_market();
        market.arm(&rule(1, "price < 97", &options), NOW);
        market.observe_extended("ACME", "96", EVENING);
        market.process(Event::Clock, end);
        let decisions = market.process(Event::Evaluate, end);
        assert_eq!(!firings(&decisions).is_empty(), is_fresh, "{end}");
    }
}

#[test]
fn crossing_and_cooldown_continue_in_extended_hours() {
    let options = json!({"session": "extended", "repeat": "each_time", "cooldown": "2h"});
    let mut market = observed_market();
    market.arm(&rule(1, "price crosses below 97", &options), NOW);
    let mut fired = Vec::<Timestamp>::new();
    for (text, now) in [
        ("96", "2024-07-01T20:00:01Z"),
        ("98", "2024-07-01T20:30:00Z"),
        // Within the cooldown.
        ("96", "2024-07-01T21:00:00Z"),
        ("98", "2024-07-01T22:00:00Z"),
        ("96", "2024-07-01T22:00:01Z"),
    ] {
        fired.extend(firings(&market.observe_extended("ACME", text, now)));
    }
    assert_eq!(fired, [at("2024-07-01T20:00:01Z"), at("2024-07-01T22:00:01Z")]);
}

#[test]
fn crossing_within_the_session_counts_until_the_close_of_the_next_one() {
    for (now, counts) in [("2024-07-02T20:00:00Z", true), ("2024-07-02T20:00:01Z", false)] {
        let mut market = observed_market();
        let mut alert = rule(1, "price crosses below 97 and price > 97", &extended());
        let within = Some("session".parse().unwrap());
        let when = "price crosses below 97 and price > 97".parse().unwrap();
        alert.condition = alerts::Condition::expression(when, within);
        alert.lifecycle = Some(Box::new(alerts::lifecycle::Lifecycle::new(at(NOW), None, within)));
        market.arm(&alert, NOW);
        assert_eq!(firings(&market.observe_extended("ACME", "96", EVENING)), []);
        let decisions = if counts {
            market.observe("ACME", "98", now)
        } else {
            market.observe_extended("ACME", "98", now)
        };
        assert_eq!(!firings(&decisions).is_empty(), counts, "{now}");
    }
}

#[test]
fn close_is_judged_before_its_session_ends() {
    let mut market = observed_market();
    let mut closing = rule(1, "price < 97", &Value::Null);
    closing.options.trigger = TriggerPrice::Close;
    // The engine itself leaves closes to the regular session.
    closing.options.session = SessionScope::Extended;
    market.arm(&closing, NOW);
    market.arm(&rule(2, "price < 90", &extended()), NOW);
    market.observe("ACME", "96", "2024-07-01T19:59:00Z");
    let decisions = market.observe_extended("ACME", "98", "2024-07-01T20:00:01Z");
    assert_eq!(firings(&decisions), [at("2024-07-01T20:00:00Z")]);
}

#[test]
fn late_prices_of_the_session_change_its_bar() {
    let mut market = observed_market();
    market.arm(&rule(1, "change_pct(prev_close) <= -3", &extended()), NOW);
    assert_eq!(firings(&market.observe_extended("ACME", "97", EVENING)), [at(EVENING)]);
    let symbol = symbol("ACME");
    let before = market.engine.observed_session(symbol).unwrap();
    let session = alerts::engine::ObservedSession {
        low: price("90"),
        last: price("95"),
        last_at: at("2024-07-01T19:59:59Z"),
        ..before
    };
    market.process(Event::Resume { symbol, session }, "2024-07-01T21:00:01Z");
    let last = *market.engine.history(symbol).unwrap().last().unwrap();
    assert_eq!(
        (last.date, last.low, last.close),
        (before.date, price("90"), price("95"))
    );
    assert_eq!(market.engine.observed_session(symbol), Some(session));
    // The extended price is newer, and is now above the close.
    assert_eq!(market.engine.extended_price(symbol).unwrap().price, price("97"));
    assert_eq!(
        firings(&market.observe_extended("ACME", "97", "2024-07-01T21:05:00Z")),
        []
    );
}

#[test]
fn bid_and_ask_of_extended_hours_are_their_own() {
    let options = json!({"session": "extended", "trigger": "bid"});
    let mut market = observed_market();
    market.arm(&rule(1, "price < 97", &options), NOW);
    market.observe_extended("ACME", "99", EVENING);
    assert_eq!(
        market.status(1, EVENING),
        blind(EvaluationIssue::NoSourceOfMetric("bid"))
    );
    let quote = ExtendedQuote {
        bid: Some(price("96")),
        ..market.extended_quote("ACME", "99")
    };
    let fired = market.process(Event::ExtendedSnapshot(&[quote]), "2024-07-01T21:01:00Z");
    assert_eq!(firings(&fired), [at("2024-07-01T21:01:00Z")]);
    market.arm(&rule(2, "bid < 97", &Value::Null), "2024-07-01T21:02:00Z");
    assert_eq!(firings(&market.observe("ACME", "99", "2024-07-02T13:30:00Z")), []);
}

#[test]
fn missing_source_of_extended_hours_is_named_while_they_last() {
    for (mut market, issue) in [
        (RuleMarket::new(), None),
        (
            RuleMarket::without_extended_hours(),
            Some(EvaluationIssue::NoExtendedHours),
        ),
    ] {
        market.observe("ACME", "100", NOW);
        market.arm(&rule(1, "price < 97", &extended()), NOW);
        market.arm(&rule(2, "price < 97", &Value::Null), NOW);
        let expected = issue.map_or(EvaluationStatus::Ok, waiting);
        assert_eq!(market.status(1, EVENING), expected);
        assert_eq!(market.status(2, EVENING), EvaluationStatus::Ok);
        for night_or_session in ["2024-07-01T15:05:00Z", "2024-07-02T03:00:00Z"] {
            assert_eq!(market.status(1, night_or_session), EvaluationStatus::Ok);
        }
    }
}

#[test]
fn explanation_is_as_of_the_extended_price() {
    let mut market = observed_market();
    market.arm(&rule(1, "price < 97", &extended()), NOW);
    market.observe_extended("ACME", "98", EVENING);
    let explanation = market.engine.explain(id(1), at("2024-07-01T21:05:00Z")).unwrap();
    assert_eq!(explanation.terms[0].as_of, Some(at(EVENING)));
    assert_eq!(explanation.terms[0].left.unwrap().to_string(), "98");
}

#[test]
fn session_that_is_set_back_to_the_hours_before_it_is_observed_again() {
    let mut market = observed_market();
    market.arm(&rule(1, "price < 97", &extended()), NOW);
    let acme = symbol("ACME");
    let stored = market.engine.observed_session(acme).unwrap();
    market.observe_extended("ACME", "98", "2024-07-02T12:00:00Z");
    let newest = market.engine.extended_price(acme).unwrap();
    market.observe("ACME", "99", "2024-07-02T13:31:00Z");
    // Another process continues from what is stored.
    let now = "2024-07-02T13:31:01Z";
    let resumed = Event::Resume {
        symbol: acme,
        session: stored,
    };
    market.process(resumed, now);
    market.process(Event::ResumeExtended { symbol: acme, newest }, now);
    assert_eq!(
        firings(&market.observe("ACME", "96", "2024-07-02T13:31:02Z")),
        [at("2024-07-02T13:31:02Z")]
    );
    let session = market.engine.observed_session(acme).unwrap();
    assert_eq!(
        (session.open, session.high),
        (price("96"), price("96")),
        "without the first price"
    );
}
