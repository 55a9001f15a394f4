//! Texts and their canonical form.

use alerts::expression::Expression;

use super::support::parse;

fn canonical(text: &str) -> String {
    parse(text).to_string()
}

#[test]
fn examples_of_the_specification_are_canonical() {
    for text in [
        "rsi(14) < 30 and price > sma(200)",
        "price crosses above 1.02 * high(20)",
        "AAPL.change_pct(open) <= -5 and SPY.price < SPY.sma(50)",
        "(pe < 15 or forward_pe < 12) and insider_buys(30) >= 500000",
        "drawdown(90) >= 20 and not days_to_earnings <= 3",
        "price <= 0.92 * high_since_armed",
    ] {
        assert_eq!(canonical(text), text);
    }
}

#[test]
fn equal_expressions_have_one_canonical_form() {
    for (text, expected) in [
        ("PRICE<180", "price < 180"),
        ("Price   Crosses\tABOVE\n 5.50", "price crosses above 5.5"),
        ("price crosses 5", "price crosses 5"),
        ("((price) < (180))", "price < 180"),
        (
            "(price < 1) and ((rsi < 2) or (pe < 3))",
            "price < 1 and (rsi(14) < 2 or pe < 3)",
        ),
        (
            "price < 1 or price > 2 and rsi < 3",
            "price < 1 or price > 2 and rsi(14) < 3",
        ),
        (
            "(price < 1 or price > 2) or rsi < 3",
            "price < 1 or price > 2 or rsi(14) < 3",
        ),
        (
            "price < 1 or (price > 2 or rsi < 3)",
            "price < 1 or (price > 2 or rsi(14) < 3)",
        ),
        ("not (price < 1)", "not price < 1"),
        ("price < 1 + 2 * 3", "price < 1 + 2 * 3"),
        ("price < (1 + 2) * 3", "price < (1 + 2) * 3"),
        ("price < 10 - (3 - 1)", "price < 10 - (3 - 1)"),
        ("price < (10 - 3) - 1", "price < 10 - 3 - 1"),
        ("price < 10 / (3 * 1)", "price < 10 / (3 * 1)"),
        ("gap_pct < -.5", "gap_pct < -0.5"),
        ("gap_pct < --5", "gap_pct < --5"),
        ("gap_pct < -(2 * 3)", "gap_pct < -(2 * 3)"),
        ("gap_pct < 1--5", "gap_pct < 1 - -5"),
        ("aapl.price > brk.b.price", "AAPL.price > BRK.B.price"),
        ("\"bf-b\".price > \"3m\".sma(20)", "\"BF-B\".price > \"3M\".sma(20)"),
        ("price-sma(5)>0", "price - sma(5) > 0"),
    ] {
        assert_eq!(canonical(text), expected, "{text}");
        assert_eq!(canonical(expected), expected);
    }
}

#[test]
fn words_are_strict_without_and_inclusive_with_at() {
    for (words, operator) in [
        ("below", "<"),
        ("under", "<"),
        ("less than", "<"),
        ("above", ">"),
        ("over", ">"),
        ("more than", ">"),
        ("at or below", "<="),
        ("at most", "<="),
        ("at or above", ">="),
        ("at least", ">="),
    ] {
        let expected = format!("rsi(14) {operator} 30");
        assert_eq!(canonical(&format!("rsi {words} 30")), expected);
        assert_eq!(canonical(&format!("rsi IS {words} 30")), expected);
        assert_eq!(canonical(&format!("its 14-day RSI is {words} 30")), expected);
        assert_eq!(canonical(&format!("rsi is not {words} 30")), format!("not {expected}"));
    }
    for (words, operator) in [("or below", "<="), ("or above", ">=")] {
        assert_eq!(
            canonical(&format!("rsi is 30 {words}")),
            format!("rsi(14) {operator} 30")
        );
        assert_eq!(
            canonical(&format!("rsi 30 {words} or pe < 3")),
            format!("rsi(14) {operator} 30 or pe < 3")
        );
    }
}

#[test]
fn the_and_of_between_belongs_to_it() {
    assert_eq!(
        canonical("rsi between 30 and 40 and pe < 3"),
        "rsi(14) between 30 and 40 and pe < 3"
    );
    assert_eq!(canonical("not rsi between 30 and 40"), "not rsi(14) between 30 and 40");
    assert!("rsi not between 30 and 40".parse::<Expression>().is_err());
}

#[test]
fn defaults_apply_to_all_arguments_or_none() {
    for (text, expected) in [
        ("rsi > 1", "rsi(14) > 1"),
        ("atr > 1", "atr(14) > 1"),
        ("macd > macd_signal", "macd(12, 26, 9) > macd_signal(12, 26, 9)"),
        ("bb_upper > bb_lower", "bb_upper(20, 2) > bb_lower(20, 2)"),
        ("rvol > 1", "rvol(20) > 1"),
        ("avg_volume > 1", "avg_volume(20) > 1"),
        ("insider_buys > insider_sells", "insider_buys(7) > insider_sells(7)"),
        ("change_pct > 1", "change_pct > 1"),
        ("high > high(20)", "high > high(20)"),
    ] {
        assert_eq!(canonical(text), expected);
    }
    for text in [
        "sma > 1",
        "ema > 1",
        "stdev > 1",
        "drawdown > 1",
        "macd(12) > 1",
        "bb_upper(20) > 1",
        "rsi() > 1",
    ] {
        assert!(text.parse::<Expression>().is_err(), "{text}");
    }
}

#[test]
fn arguments_are_within_their_ranges() {
    for (accepted, refused) in [
        ("sma(1) > 1", "sma(0) > 1"),
        ("sma(400) > 1", "sma(401) > 1"),
        ("sma(20) > 1", "sma(20.5) > 1"),
        ("insider_buys(400) > 1", "insider_buys(401) > 1"),
        ("bb_upper(20, 0.000001) > 1", "bb_upper(20, 0) > 1"),
        ("bb_upper(20, 10) > 1", "bb_upper(20, 10.000001) > 1"),
        ("change_pct(400) > 1", "change_pct(401) > 1"),
        ("change_pct(open) > 1", "change_pct(low) > 1"),
        ("macd(1, 2, 400) > 1", "macd(1, 2, 401) > 1"),
        ("sma(20) > 1", "sma(-20) > 1"),
    ] {
        assert!(accepted.parse::<Expression>().is_ok(), "{accepted}");
        assert!(refused.parse::<Expression>().is_err(), "{refused}");
    }
}

#[test]
fn numbers_have_at_most_six_decimals() {
    assert_eq!(canonical("price > 12"), "price > 12");
    assert_eq!(canonical("price > 0.123456"), "price > 0.123456");
    for text in [
        "price > 0.1234567",
        "price > 12.",
        "price > 1e3",
        "price > 1_000",
        "price > 1,000",
        "price > 9999999999999",
    ] {
        assert!(text.parse::<Expression>().is_err(), "{text}");
    }
}

#[test]
fn own_symbol_may_be_named() {
    let own = Some("AAPL".parse().unwrap());
    let parsed = Expression::parse("AAPL.price < SPY.price", own).unwrap();
    assert_eq!(parsed.expression.to_string(), "price < SPY.price");
    let positions: Vec<_> = parsed
        .symbols
        .iter()
        .map(|(symbol, position)| (symbol.as_str(), *position))
        .collect();
    assert_eq!(positions, [("AAPL", 1), ("SPY", 14)]);
}
