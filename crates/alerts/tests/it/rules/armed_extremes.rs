//! The extremes since arming begin with the newest price.

use alerts::Alert;
use alerts::engine::{AlertAction, Decision};
use alerts::lifecycle::Lifecycle;
use serde_json::Value;

use super::market::{NOW, RuleMarket, firings, rule};
use crate::common::price;

const LATER: &str = "2024-07-01T15:01:00Z";

fn stored(decisions: &[Decision]) -> Option<Lifecycle> {
    decisions.iter().find_map(|decision| match &decision.action {
        AlertAction::SetLifecycle { state } => Some(state.as_ref().clone()),
        _ => None,
    })
}

#[test]
fn trailing_stop_counts_the_newest_price_at_arming() {
    for (next, fires) in [("90.01", false), ("90", true)] {
        let mut market = RuleMarket::new();
        market.observe("ACME", "100", NOW);
        market.arm(&rule(1, "price <= 0.9 * high_since_armed", &Value::Null), NOW);
        let decisions = market.observe("ACME", next, LATER);
        assert_eq!(!firings(&decisions).is_empty(), fires, "{next}");
    }
}

#[test]
fn extremes_at_arming_are_stored_at_once() {
    let mut market = RuleMarket::new();
    market.observe("ACME", "100", NOW);
    let alert = rule(1, "price <= 0.9 * high_since_armed", &Value::Null);
    let armed = market.arm(&alert, NOW).unwrap();
    let extremes = armed.extremes.unwrap();
    assert_eq!((extremes.high(), extremes.low()), (price("100"), price("100")));
    // The first judgement is part of the state, even at the same price; the second one is not.
    let judged = stored(&market.observe("ACME", "100", LATER)).unwrap();
    assert_eq!(judged.extremes, armed.extremes);
    assert_eq!(stored(&market.observe("ACME", "100", "2024-07-01T15:02:00Z")), None);
    // Stored extremes are kept, whatever the newest price, and not stored again.
    for state in [armed, judged] {
        let mut market = RuleMarket::new();
        market.observe("ACME", "50", NOW);
        let restored = Alert {
            lifecycle: Some(Box::new(state)),
            ..alert.clone()
        };
        assert_eq!(market.arm(&restored, NOW), None);
        assert_eq!(firings(&market.observe("ACME", "90", LATER)).len(), 1);
    }
}

#[test]
fn price_of_a_restart_is_no_extreme_of_a_rule_that_was_armed_without_one() {
    let alert = rule(1, "price <= 0.9 * high_since_armed", &Value::Null);
    let state = RuleMarket::new().arm(&alert, NOW).unwrap();
    assert_eq!(state.extremes, None);
    let mut market = RuleMarket::new().with_closes("ACME", [100].into_iter());
    let restored = Alert {
        lifecycle: Some(Box::new(state)),
        ..alert
    };
    assert_eq!(market.arm(&restored, NOW), None);
    assert_eq!(firings(&market.observe("ACME", "90", LATER)), []);
}

#[test]
fn extremes_are_those_of_the_own_stock_and_only_where_they_are_used() {
    let mut market = RuleMarket::new();
    market.observe("BBB", "500", NOW);
    market.arm(&rule(1, "price <= 0.9 * high_since_armed", &Value::Null), NOW);
    let state = stored(&market.observe("ACME", "100", LATER)).unwrap();
    assert_eq!(state.extremes.unwrap().high(), price("100"));
    market.arm(&rule(2, "price > 500", &Value::Null), LATER);
    let decisions = market.observe("ACME", "101", "2024-07-01T15:02:00Z");
    assert!(decisions.iter().all(|decision| decision.alert != crate::common::id(2)));
}
