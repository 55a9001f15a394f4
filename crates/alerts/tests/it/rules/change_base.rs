//! The base of a price change.

use alerts::condition::Side;
use alerts::lifecycle::Lifecycle;
use alerts::options::restore_options;
use alerts::{Alert, Condition};
use serde_json::json;

use super::market::{NOW, RuleMarket, firings, symbol};
use crate::common::{alert, at, decimal, price};

/// Returns how often a price change of 5 percent up from a base fires at prices after a close of 100 and an open of 104, if the alert was
/// created at 90.
fn firings_at(base: &str, text: &str) -> usize {
    let condition = Condition::PriceChange {
        side: Side::Above,
        percent: decimal("5"),
    };
    let change = Alert {
        options: restore_options(&json!({"repeat": "each_time", "base": base})).unwrap(),
        lifecycle: Some(Box::new(Lifecycle::new(at(NOW), None, None))),
        initial_price: Some(price("90")),
        ..alert(1, symbol("ACME"), condition, at(NOW))
    };
    let mut market = RuleMarket::new().with_closes("ACME", std::iter::once(100));
    market.observe("ACME", "104", "2024-07-01T13:30:00Z");
    market.arm(&change, NOW);
    firings(&market.observe("ACME", text, "2024-07-01T15:01:00Z")).len()
}

#[test]
fn price_change_is_measured_from_the_base_of_the_options() {
    for (base, below, at_least) in [
        ("creation", "94.49", "94.50"),
        ("prev_close", "104.99", "105"),
        ("open", "109.19", "109.20"),
    ] {
        assert_eq!((firings_at(base, below), firings_at(base, at_least)), (0, 1), "{base}");
    }
}
