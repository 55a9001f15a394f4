//! Expressions and options after a split.

use alerts::engine::{AlertAction, Event};
use alerts::{Alert, Condition};
use jiff::civil::date;
use market::SplitRatio;
use serde_json::{Value, json};

use super::market::{NOW, RuleMarket, firings, rule, symbol};
use crate::common::{id, price};

/// Tuesday, before the open.
const SPLIT: &str = "2024-07-02T08:00:00Z";

fn ratio() -> SplitRatio {
    "4".parse().unwrap()
}

fn tuesday(minute: u8) -> String {
    format!("2024-07-02T15:{minute:02}:00Z")
}

fn split(market: &mut RuleMarket, stock: &str) -> Vec<alerts::engine::Decision> {
    let symbol = symbol(stock);
    market.process(Event::Split { symbol, ratio: ratio() }, SPLIT)
}

#[test]
fn prices_count_four_times_after_a_split() {
    for (next, fires) in [("50.000001", true), ("50", false)] {
        let mut market = RuleMarket::new();
        market.observe("ACME", "180", NOW);
        market.arm(&rule(1, "price > 200", &Value::Null), NOW);
        assert_eq!(split(&mut market, "ACME"), []);
        assert_eq!(firings(&market.observe("ACME", "45", &tuesday(1))), []);
        assert_eq!(
            !firings(&market.observe("ACME", next, &tuesday(2))).is_empty(),
            fires,
            "{next}"
        );
    }
}

#[test]
fn volumes_count_a_quarter_and_ratios_the_same() {
    let mut market = RuleMarket::new();
    market.arm(&rule(1, "volume >= 1000", &Value::Null), NOW);
    let with_initial = Alert {
        initial_price: Some(price("100")),
        ..rule(2, "change_pct <= -10", &Value::Null)
    };
    market.arm(&with_initial, NOW);
    let adjusted = split(&mut market, "ACME");
    assert!(matches!(
        adjusted[..],
        [alerts::engine::Decision {
            action: AlertAction::Adjust {
                threshold: None,
                initial_price: Some(_)
            },
            ..
        }]
    ));
    let mut observe = |text: &str, volume: i64, minute: u8| {
        let stock = market.engine.stock(symbol("ACME"));
        let quote = alerts::engine::Quote::new(stock, price(text)).with_volume(volume);
        market.process(Event::Snapshot(&[quote]), &tuesday(minute))
    };
    assert_eq!(firings(&observe("25", 3_999, 1)), []);
    let fired = observe("25", 4_000, 2);
    assert_eq!(fired.len(), 1);
    let fired = observe("22.50", 4_000, 3);
    // The adjustment was the first revision after the alert's own.
    assert_eq!((fired.len(), fired[0].revision), (1, with_initial.revision.next()));
}

#[test]
fn split_of_another_stock_scales_only_that_stock() {
    let mut market = RuleMarket::new();
    market.observe("ACME", "100", NOW);
    market.arm(&rule(1, "BBB.price >= 200 and price >= 100", &Value::Null), NOW);
    assert_eq!(split(&mut market, "BBB"), []);
    assert_eq!(firings(&market.observe("ACME", "100", &tuesday(1))), []);
    assert_eq!(firings(&market.observe("BBB", "49.99", &tuesday(2))), []);
    assert_eq!(firings(&market.observe("BBB", "50", &tuesday(3))).len(), 1);
}

#[test]
fn texts_have_the_figures_of_today() {
    let mut market = RuleMarket::new();
    let alert = rule(1, "price > 200 and volume < 1000", &Value::Null);
    market.arm(&alert, NOW);
    split(&mut market, "ACME");
    assert_eq!(
        alerts::sentence::sentence(&market.engine.condition_today(&alert).unwrap(), None),
        "fires when its price is over 50.00 and its volume is under 4000"
    );
    market.observe("ACME", "45", &tuesday(1));
    let explained = market.engine.explain(id(1), tuesday(1).parse().unwrap());
    let explained = explained.unwrap();
    assert_eq!(
        explained.sentence.as_deref(),
        Some("ACME rises above 50.00 while its volume is under 4000")
    );
    let term = &explained.terms[0];
    let numbers = [term.left, term.right].map(|number| number.unwrap().to_string());
    assert_eq!(
        (term.text.as_str(), numbers),
        ("price > 50", ["45", "50"].map(str::to_owned))
    );
    let stock = market.engine.stock(symbol("ACME"));
    let quote = alerts::engine::Quote::new(stock, price("51")).with_volume(10);
    let decisions = market.process(Event::Snapshot(&[quote]), &tuesday(2));
    let reasons = decisions.iter().filter_map(|decision| match &decision.action {
        AlertAction::FireRule { reason, .. } => Some(reason.to_string()),
        _ => None,
    });
    let reasons: Vec<_> = reasons.collect();
    assert_eq!(reasons, ["price > 50 and volume < 4000: price is 51, volume is 10"]);
}

#[test]
fn trailing_stop_and_known_splits_survive_a_restart() {
    let mut market = RuleMarket::new();
    market.observe("ACME", "100", NOW);
    let stop = rule(1, "price <= 0.9 * high_since_armed and price > 50", &Value::Null);
    market.arm(&stop, NOW);
    market.observe("ACME", "120", "2024-07-01T15:01:00Z");
    assert_eq!(split(&mut market, "ACME").len(), 1);
    assert_eq!(firings(&market.observe("ACME", "27.01", &tuesday(1))), []);
    assert_eq!(firings(&market.observe("ACME", "27", &tuesday(2))).len(), 1);
    // Only splits on a later day than that of the expression count.
    for (day, fires) in [(1, false), (2, true)] {
        let mut market = RuleMarket::new();
        let splits = [(date(2024, 7, day), ratio())];
        market.process(
            Event::KnownSplits {
                symbol: symbol("ACME"),
                splits: &splits,
            },
            SPLIT,
        );
        market.arm(&rule(1, "price > 200", &Value::Null), SPLIT);
        assert_eq!(
            !firings(&market.observe("ACME", "51", &tuesday(1))).is_empty(),
            fires,
            "{day}"
        );
    }
}

#[test]
fn threshold_of_a_condition_with_options_is_adjusted() {
    let mut market = RuleMarket::new();
    let mut alert = rule(1, "price > 5", &json!({"repeat": "each_time", "rearm": {"at": 180}}));
    alert.condition = Condition::Price {
        side: alerts::condition::Side::Above,
        threshold: price("200"),
    };
    market.arm(&alert, NOW);
    let adjusted = split(&mut market, "ACME");
    let expected = AlertAction::Adjust {
        threshold: Some(price("50")),
        initial_price: None,
    };
    assert_eq!(adjusted[0].action, expected);
    for (text, minute, fires) in [
        ("49.99", 1, false),
        ("50", 2, true),
        ("45.01", 3, false),
        ("50", 4, false),
        ("45", 5, false),
        ("50", 6, true),
    ] {
        assert_eq!(
            !firings(&market.observe("ACME", text, &tuesday(minute))).is_empty(),
            fires,
            "{text} {minute}"
        );
    }
}
