//! The trigger `two_lasts`: only observations are the first or the second of two prices.

use alerts::Alert;
use alerts::engine::{AlertAction, Decision, Event};
use alerts::lifecycle::Lifecycle;
use alerts::metrics::FundamentalFigures;
use serde_json::{Value, json};

use super::market::{NOW, RuleMarket, firings, rule, symbol};
use crate::common::{at, decimal};

fn second(second: u8) -> String {
    format!("2024-07-01T15:00:{second:02}Z")
}

fn on_two_lasts(when: &str) -> Alert {
    rule(1, when, &json!({"trigger": "two_lasts"}))
}

fn set_eps(market: &mut RuleMarket, value: &str, now: &str) {
    let figures = FundamentalFigures {
        trailing_eps: Some(decimal(value)),
        ..FundamentalFigures::default()
    };
    let symbol = symbol("ACME");
    market.process(Event::Fundamentals { symbol, figures }, now);
}

/// Lets the rules of the stock be judged without an observation. Returns whether one fired.
fn evaluate_again(market: &mut RuleMarket, now: &str) -> bool {
    market.arm(&rule(2, "price > 500", &Value::Null), now);
    !firings(&market.process(Event::Evaluate, now)).is_empty()
}

fn observe(market: &mut RuleMarket, text: &str, at_second: u8) -> bool {
    !firings(&market.observe("ACME", text, &second(at_second))).is_empty()
}

#[test]
fn evaluation_between_two_crossings_does_not_forget_the_first() {
    for is_judged in [false, true] {
        let mut market = RuleMarket::new();
        market.observe("ACME", "98", NOW);
        market.arm(&on_two_lasts("price crosses 96 or eps < 0"), NOW);
        market.process(Event::Evaluate, NOW);
        assert!(!observe(&mut market, "95", 1));
        if is_judged {
            assert!(!evaluate_again(&mut market, &second(2)));
        } else {
            assert_eq!(firings(&market.process(Event::Evaluate, &second(2))), []);
        }
        assert!(observe(&mut market, "96", 2), "with another rule: {is_judged}");
    }
}

#[test]
fn observation_at_which_the_condition_is_false_forgets_the_first() {
    let mut market = RuleMarket::new();
    market.observe("ACME", "98", NOW);
    market.arm(&on_two_lasts("price crosses 96 or eps < 0"), NOW);
    for (text, at_second, fires) in [("95", 1, false), ("95", 2, false), ("97", 3, false), ("95", 4, true)] {
        assert_eq!(
            observe(&mut market, text, at_second),
            fires,
            "{text} at second {at_second}"
        );
    }
}

#[test]
fn price_from_before_arming_is_not_the_first() {
    for is_evaluated in [false, true] {
        let mut market = RuleMarket::new();
        market.observe("ACME", "101", NOW);
        market.arm(&on_two_lasts("price > 100"), NOW);
        if is_evaluated {
            assert_eq!(firings(&market.process(Event::Evaluate, NOW)), []);
        }
        assert!(!observe(&mut market, "101", 1), "evaluated: {is_evaluated}");
        assert!(observe(&mut market, "101", 2), "evaluated: {is_evaluated}");
    }
}

#[test]
fn evaluation_after_a_fact_neither_becomes_nor_forgets_the_first() {
    for is_evaluated in [false, true] {
        let evaluate = |market: &mut RuleMarket, at_second: u8| {
            if is_evaluated {
                assert_eq!(firings(&market.process(Event::Evaluate, &second(at_second))), []);
            }
        };
        let mut market = RuleMarket::new();
        set_eps(&mut market, "-1", NOW);
        market.arm(&on_two_lasts("price > 100 and eps > 0"), NOW);
        assert!(!observe(&mut market, "101", 1));
        // The condition becomes true without an observation.
        set_eps(&mut market, "1", &second(2));
        evaluate(&mut market, 2);
        assert!(!observe(&mut market, "101", 3), "evaluated: {is_evaluated}");
        // It is false in between, but true at the observations before and after.
        set_eps(&mut market, "-1", &second(4));
        evaluate(&mut market, 4);
        set_eps(&mut market, "1", &second(5));
        evaluate(&mut market, 5);
        assert!(observe(&mut market, "101", 6), "evaluated: {is_evaluated}");
    }
}

#[test]
fn first_price_survives_a_restart() {
    let alert = on_two_lasts("price crosses 96 or eps < 0");
    let mut market = RuleMarket::new();
    market.observe("ACME", "98", NOW);
    let armed = market.arm(&alert, NOW);
    let stored = newest_state(&market.observe("ACME", "95", &second(1))).or(armed);
    let session = market.engine.observed_session(symbol("ACME")).unwrap();
    let mut restarted = RuleMarket::new();
    let symbol = symbol("ACME");
    restarted.process(Event::Resume { symbol, session }, &second(1));
    let alert = Alert {
        lifecycle: stored.map(Box::new),
        ..alert
    };
    restarted.arm(&alert, &second(1));
    assert_eq!(firings(&restarted.process(Event::Evaluate, &second(1))), []);
    assert_eq!(firings(&restarted.observe("ACME", "96", &second(2))), [at(&second(2))]);
}

fn newest_state(decisions: &[Decision]) -> Option<Lifecycle> {
    let mut states = decisions.iter().filter_map(|decision| match &decision.action {
        AlertAction::SetLifecycle { state } => Some(state.as_ref().clone()),
        _ => None,
    });
    states.next_back()
}
