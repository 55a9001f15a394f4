//! The conditions of the API as expressions, and back.

use alerts::ConditionKind;
use alerts::expression::conversion::{from_condition, to_condition};
use serde_json::json;

use super::support::parse;
use crate::requests::support::create;

#[test]
fn every_condition_that_is_a_comparison_is_an_expression() {
    for (kind, expected) in [
        ("price_above", Some("price >= 200")),
        ("price_below", Some("price <= 150.5")),
        ("price_change_up", Some("change_pct(creation) >= 5")),
        ("price_change_down", Some("change_pct(creation) <= -5")),
        ("new_high", Some("price > high_52w")),
        ("new_low", Some("price < low_52w")),
        ("ma_crossover_golden", None),
        ("ma_crossover_death", None),
        ("ma_touch_above", Some("price crosses above sma(50)")),
        ("ma_touch_below", Some("price crosses below sma(50)")),
        ("rsi_limit", Some("rsi(14) >= 70")),
        ("volume_change", Some("rvol(20) >= 1.5")),
        ("pe_ratio_below", Some("pe <= 15")),
        ("pe_ratio_above", Some("pe >= 40")),
        ("forward_pe_below", Some("forward_pe <= 15")),
        ("forward_pe_above", Some("forward_pe >= 40")),
        ("social_buzz", None),
        // The example asks for two insiders.
        ("insider_transactions", None),
        ("reminder", None),
        ("daily_reminder", None),
        ("earnings_announcement", Some("days_to_earnings <= 3")),
        ("dividend_ex_date", Some("days_to_ex_dividend <= 2")),
        ("dividend_payment", Some("days_to_payment <= 0")),
    ] {
        let kind = ConditionKind::from_name(kind).unwrap();
        let condition = create(&serde_json::from_str(kind.spec().example).unwrap())
            .unwrap()
            .condition;
        let expression = from_condition(&condition);
        assert_eq!(
            expression.as_ref().map(ToString::to_string).as_deref(),
            expected,
            "{kind}"
        );
        let is_exact = !matches!(kind.name(), "new_high" | "new_low" | "rsi_limit");
        if let Some(expression) = expression.filter(|_| kind.name() != "dividend_payment") {
            assert_eq!(to_condition(&expression), is_exact.then_some(condition), "{kind}");
        }
    }
}

#[test]
fn parameters_decide_whether_a_condition_is_an_expression() {
    for (body, expected) in [
        (
            json!({"condition": "insider_transactions", "threshold": 5, "parameters": {"direction": "buy"}}),
            Some("insider_buys(7) >= 5"),
        ),
        (
            json!({"condition": "insider_transactions", "threshold": 5, "parameters": {"direction": "sell", "windowDays": 365}}),
            Some("insider_sells(365) >= 5"),
        ),
        (
            json!({"condition": "insider_transactions", "threshold": 5}),
            Some("insider_buys(7) + insider_sells(7) >= 5"),
        ),
        (
            json!({"condition": "insider_transactions", "threshold": 5, "parameters": {"openMarketOnly": false}}),
            None,
        ),
        (
            json!({"condition": "volume_change", "threshold": 0.00005, "parameters": {"volumeBaseline": "ma100"}}),
            Some("100 * rvol(100) >= 100.00005"),
        ),
        (
            json!({"condition": "rsi_limit", "threshold": 70, "parameters": {"direction": "both"}}),
            None,
        ),
    ] {
        let mut body = body;
        body["symbol"] = json!("AAPL");
        let condition = create(&body).unwrap().condition;
        let expression = from_condition(&condition);
        assert_eq!(
            expression.as_ref().map(ToString::to_string).as_deref(),
            expected,
            "{body}"
        );
        if let Some(expression) = expression {
            assert_eq!(to_condition(&expression), Some(condition), "{body}");
        }
    }
}

#[test]
fn expression_that_means_something_else_is_no_condition() {
    for text in [
        "price < 180",
        "price <= 0",
        "price <= 1000000000.000001",
        "price <= -5",
        "not price >= 180",
        "price <= 180 and pe < 3",
        "price <= 90 * 2",
        "SPY.price <= 180",
        "change_pct <= -5",
        "change_pct(creation) <= 5",
        "change_pct(creation) <= -100.000001",
        "change_pct(creation) >= 0",
        "change_pct(open) <= -5",
        "price > high_52w",
        "price crosses sma(50)",
        "price crosses above sma(1)",
        "price crosses above SPY.sma(50)",
        "sma(50) crosses above sma(200)",
        "rsi(14) <= 30",
        "rvol(20) >= 1",
        "rvol(21) >= 1.5",
        "rvol(20) <= 1.5",
        "pe <= 0",
        "days_to_earnings <= 366",
        "days_to_earnings <= 2.5",
        "days_to_earnings >= 2",
        "days_to_payment <= 1",
        "insider_buys(366) >= 5",
        "insider_buys(7) >= 0",
        "insider_buys(7) + insider_sells(8) >= 5",
        "insider_sells(7) + insider_buys(7) >= 5",
    ] {
        assert_eq!(to_condition(&parse(text)), None, "{text}");
    }
    assert!(
        to_condition(&parse("180 >= price")).is_some(),
        "the sides may be exchanged"
    );
}
