//! Texts and their canonical form.

use super::support::parse;

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
        assert_eq!(parse(text).to_string(), text);
    }
}
