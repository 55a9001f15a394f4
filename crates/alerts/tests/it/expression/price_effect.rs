//! The effect of the price against a market in which only the price moves.

use alerts::expression::shape::{PriceEffect, price_effect};
use alerts::expression::{Fraction, MetricValue, Truth};
use proptest::prelude::*;
use proptest::sample::select;

use super::support::{ValueTable, metric, parse, truth};

const METRICS: &[&str] = &[
    "price",
    "prev_close",
    "high",
    "low",
    "high_since_armed",
    "low_since_armed",
    "sma(5)",
    "sma(20)",
    "drawdown(10)",
    "change_pct(prev_close)",
    "pe",
    "dividend_yield",
    "stdev(3)",
    "bb_upper(3, 2)",
    "bb_lower(3, 0.5)",
];

fn value(name: &str, price: i64) -> MetricValue {
    let exact = |numerator: i64, denominator: i64| {
        MetricValue::Exact(Fraction::new(numerator.into(), denominator.into()).unwrap())
    };
    let closes = [90.0, 110.0, price as f64];
    let mean = closes.iter().sum::<f64>() / 3.0;
    let deviation = (closes.iter().map(|close| (close - mean).powi(2)).sum::<f64>() / 3.0).sqrt();
    match name {
        "price" => exact(price, 1),
        "prev_close" => exact(100, 1),
        "high" => exact(price.max(103), 1),
        "low" => exact(price.min(97), 1),
        "high_since_armed" => exact(price.max(105), 1),
        "low_since_armed" => exact(price.min(95), 1),
        "sma(5)" => exact(400 + price, 5),
        "sma(20)" => exact(1_900 + price, 20),
        "drawdown(10)" => exact(100 * (price.max(110) - price), price.max(110)),
        "change_pct(prev_close)" => exact(price - 100, 1),
        "pe" => exact(price, 5),
        "dividend_yield" => exact(3, 1),
        "stdev(3)" => MetricValue::Approximate(deviation),
        "bb_upper(3, 2)" => MetricValue::Approximate(mean + 2.0 * deviation),
        _ => MetricValue::Approximate(mean - 0.5 * deviation),
    }
}

fn relation() -> impl Strategy<Value = String> {
    let factor = select(vec!["-2", "-1", "0.05", "0.5", "0.92", "1", "1.2", "3"]);
    let sides = (select(METRICS), select(vec!["+", "-"]), factor, select(METRICS));
    (sides, select(vec!["<", "<=", ">", ">="]), -50_i32..150).prop_map(
        |((left, operator, factor, right), relation, number)| {
            format!("{left} {operator} {factor} * {right} {relation} {number}")
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn known_effect_is_the_effect_in_a_market(
        first in relation(),
        joiner in select(vec!["and", "or", "and not", "or not"]),
        second in prop::option::weighted(0.3, relation()),
    ) {
        let text = second.map_or(first.clone(), |second| format!("{first} {joiner} {second}"));
        let effect = price_effect(&parse(&text), None);
        let truths: Vec<Truth> = (50..160)
            .step_by(3)
            .map(|price| {
                let now = METRICS.iter().map(|name| (metric(name), value(name, price))).collect();
                let table = ValueTable { now, ..ValueTable::default() };
                truth(&text, &table)
            })
            .collect();
        let changes = |from: Truth, to: Truth| truths.windows(2).any(|pair| pair == [from, to]);
        let (rises, falls) = (changes(Truth::False, Truth::True), changes(Truth::True, Truth::False));
        match effect {
            PriceEffect::Constant => prop_assert!(!rises && !falls, "{}", text),
            PriceEffect::TrueAbove => prop_assert!(!falls, "{}", text),
            PriceEffect::TrueBelow => prop_assert!(!rises, "{}", text),
            PriceEffect::Unknown => {}
        }
    }
}
