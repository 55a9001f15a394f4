//! Analyses of expressions.

use alerts::expression::Fraction;
use alerts::expression::ast::{BooleanExpression, Comparison, Relation};
use alerts::expression::metric::{METRICS, MetricFamily};
use alerts::expression::shape::{
    PriceEffect, family, metric_level, metrics, price_effect, price_levels, requires_crossing, symbols,
};

use super::support::{ValueTable, metric, parse, truth};

#[test]
fn metrics_and_symbols_are_listed_once_in_the_order_of_the_text() {
    let expression = parse("SPY.price > price and price > sma(20) or SPY.price < 5");
    assert_eq!(
        metrics(&expression),
        [metric("SPY.price"), metric("price"), metric("sma(20)")]
    );
    assert_eq!(symbols(&expression), [Some("SPY".parse().unwrap()), None]);
}

#[test]
fn expression_of_price_metrics_only_belongs_to_the_price_family() {
    const PRICE_METRICS: [&str; 13] = [
        "price",
        "open",
        "high",
        "low",
        "prev_close",
        "bid",
        "ask",
        "change_pct",
        "gap_pct",
        "high_52w",
        "low_52w",
        "drawdown",
        "high_since_armed",
    ];
    for spec in METRICS {
        let is_price = PRICE_METRICS.contains(&spec.name) || spec.name == "low_since_armed";
        let expected = if is_price {
            MetricFamily::Price
        } else {
            MetricFamily::Premium
        };
        assert_eq!(spec.family, expected, "{}", spec.name);
    }
    assert_eq!(family(&parse("price > 1 and drawdown(90) >= 20")), MetricFamily::Price);
    assert_eq!(family(&parse("price > 1 and sma(90) >= 20")), MetricFamily::Premium);
}

#[test]
fn crossing_is_required_if_every_way_to_truth_goes_through_one() {
    for (text, expected) in [
        ("price crosses above 5", true),
        ("price crosses above 5 and pe < 3", true),
        ("price crosses above 5 or pe < 3", false),
        ("price crosses above 5 or price crosses below 3", true),
        ("(price crosses above 5 or pe < 3) and price crosses 7", true),
        ("not price crosses above 5", false),
        ("not (not price crosses above 5)", true),
        ("not (not price crosses above 5 or pe < 3)", true),
        ("not (not price crosses above 5 and pe < 3)", false),
        ("pe < 3", false),
    ] {
        assert_eq!(requires_crossing(&parse(text)), expected, "{text}");
    }
}

#[test]
fn one_metric_against_a_number_is_a_level() {
    let level = |text: &str| metric_level(&parse(text)).map(|level| (level.metric, level.relation, level.level));
    let five = Fraction::from_whole(5);
    assert_eq!(level("rsi < 5"), Some((metric("rsi"), Relation::Below, five.clone())));
    assert_eq!(
        level("5 < SPY.rsi"),
        Some((metric("SPY.rsi"), Relation::Above, five.clone()))
    );
    assert_eq!(
        level("rsi >= 10 / 2"),
        Some((metric("rsi"), Relation::AtLeast, five.clone()))
    );
    assert_eq!(
        level("gap_pct >= -5"),
        Some((metric("gap_pct"), Relation::AtLeast, five.negate()))
    );
    for text in [
        "rsi < pe",
        "rsi + 1 < 5",
        "not rsi < 5",
        "rsi crosses 5",
        "rsi between 1 and 5",
        "rsi < 5 / 0",
    ] {
        assert_eq!(level(text), None, "{text}");
    }
}

#[test]
fn price_levels_are_the_prices_at_which_the_truth_changes() {
    for text in [
        "price < 0.00001",
        "price <= 0.00001",
        "price > 0.00001",
        "price >= 0.00001",
        "0.00001 > price",
        "not 3 * price + 0.000002 <= 0.00002",
        "0.00003 - 2 * price > 0.000001",
        "price between 0.00001 and 0.00002",
        "price < 0.00001 or price / 3 >= 0.000007 and -price > -0.00003",
        "price * 0 < 5",
        "price + price > 0.000021",
    ] {
        let levels = price_levels(&parse(text)).unwrap();
        let at = |micros: i64| {
            let price = market::Decimal::from_micros(micros).to_string();
            truth(text, &ValueTable::default().set("price", "?", &price))
        };
        for micros in 1..60_i64 {
            let changes = at(micros) != at(micros - 1);
            assert!(!changes || levels.first_prices.contains(&micros), "{text} at {micros}");
        }
        let within: Vec<_> = levels.first_prices.range(1..60).collect();
        let all_change = within.iter().all(|micros| at(**micros) != at(**micros - 1));
        assert!(all_change || text.contains("or"), "{text}: {within:?}");
    }
    let crossing = price_levels(&parse("price crosses above 5")).unwrap();
    assert_eq!(
        crossing.first_prices.into_iter().collect::<Vec<_>>(),
        [5_000_000, 5_000_001]
    );
    for text in [
        "price < sma(20)",
        "price * price < 5",
        "price < SPY.price",
        "5 / price < 3",
        "price < 5 / 0",
        "rsi < 3",
    ] {
        assert_eq!(price_levels(&parse(text)), None, "{text}");
    }
}

#[test]
fn price_effect_is_known_for_common_expressions() {
    use PriceEffect::{Constant, TrueAbove, TrueBelow, Unknown};
    for (text, expected) in [
        ("price > 5", TrueAbove),
        ("5 > price", TrueBelow),
        ("not price > 5", TrueBelow),
        ("price > sma(200)", TrueAbove),
        ("sma(50) > sma(200)", TrueAbove),
        ("ema(12) > ema(26)", TrueAbove),
        ("macd > 0", TrueAbove),
        ("macd(26, 12, 9) > 0", TrueBelow),
        ("macd > macd_signal", Unknown),
        ("price > bb_upper", TrueAbove),
        ("price < bb_lower", TrueBelow),
        ("price > bb_upper(20, 10)", Unknown),
        ("price >= prev_close + 2 * atr", TrueAbove),
        ("price <= 0.92 * high_since_armed", TrueBelow),
        ("price <= 1.2 * high_since_armed", Unknown),
        ("rsi < 30 and price < 5", TrueBelow),
        ("rsi < 30 and price > 5", Unknown),
        ("rsi < 30 and pe < 12 and change_pct <= -5", TrueBelow),
        ("drawdown(90) >= 20", TrueBelow),
        ("volume > 5", Constant),
        ("volume > 5 and price > 3", TrueAbove),
        ("SPY.price > 5", Constant),
        ("price - SPY.price > 5", TrueAbove),
        ("price * pe > 5", Unknown),
        ("price between 1 and 2", Unknown),
        ("price crosses 5", Unknown),
        ("price > vwap", Unknown),
        ("price * -2 > 5", TrueBelow),
        ("price / 0 > 5", Unknown),
    ] {
        assert_eq!(price_effect(&parse(text), None), expected, "{text}");
    }
}

#[test]
fn operands_of_comparisons_are_in_the_order_of_the_text() {
    let expression = parse("price between low and high");
    let BooleanExpression::Comparison(comparison @ Comparison::Between { .. }) = expression.condition() else {
        panic!("a comparison");
    };
    assert_eq!(comparison.to_string(), "price between low and high");
    let operands: Vec<_> = comparison.operands().into_iter().map(ToString::to_string).collect();
    assert_eq!(operands, ["price", "low", "high"]);
}
