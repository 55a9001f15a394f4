//! The alerts of the simulated year: every condition on every stock, as create-alert bodies.

use jiff::civil::Date;
use market::{Bar, Decimal};
use serde_json::{Value, json};
use sources::folder::MarketData;

/// Returns alerts on every stock of `data`, with levels around its last price before `from`.
pub(super) fn create_bodies(data: &MarketData, from: Date) -> Vec<Value> {
    let mut bodies = Vec::new();
    for (symbol, bars) in &data.bars {
        let Some(last_bar) = bars.daily.iter().rev().find(|bar| bar.date < from) else {
            continue;
        };
        let eps = data
            .fundamentals
            .iter()
            .rev()
            .find(|row| row.symbol == *symbol && row.as_of < from);
        let pe = eps
            .and_then(|row| row.eps_ttm)
            .map(|eps| last_bar.close.as_f64() / eps.as_f64());
        for mut body in conditions(last_bar, pe.filter(|&pe| pe > 0.0).unwrap_or(20.0)) {
            body["symbol"] = json!(symbol.as_str());
            bodies.push(body);
        }
    }
    // One daily reminder is enough: reminders on each stock would dominate the output.
    let mut reminded = false;
    bodies.retain(|body| body["condition"] != "daily_reminder" || !std::mem::replace(&mut reminded, true));
    bodies
}

fn conditions(last_bar: &Bar, pe: f64) -> Vec<Value> {
    let close = last_bar.close.as_f64();
    let cents = |value: f64| Decimal::from_f64((value * 100.0).round() / 100.0).map_or(1.0, Decimal::as_f64);
    let alert = |condition: &str, threshold: f64| json!({"condition": condition, "threshold": cents(threshold)});
    let plain = |condition: &str| json!({"condition": condition});
    vec![
        alert("price_above", close * 1.15),
        alert("price_below", close * 0.85),
        alert("price_change_up", 10.0),
        alert("price_change_down", 10.0),
        plain("new_high"),
        plain("new_low"),
        plain("ma_crossover_golden"),
        plain("ma_crossover_death"),
        alert("ma_touch_above", 50.0),
        alert("ma_touch_below", 200.0),
        json!({"condition": "rsi_limit", "threshold": 75, "parameters": {"direction": "above"}}),
        json!({"condition": "rsi_limit", "threshold": 25, "parameters": {"direction": "below"}}),
        json!({"condition": "volume_change", "threshold": 150, "parameters": {"volumeBaseline": "ma20"}}),
        alert("pe_ratio_above", pe * 1.25),
        alert("pe_ratio_below", pe * 0.8),
        alert("forward_pe_above", pe * 1.15),
        alert("forward_pe_below", pe * 0.75),
        json!({"condition": "social_buzz", "parameters": {"direction": "rising"}}),
        json!({"condition": "social_buzz", "parameters": {"direction": "falling"}}),
        json!({"condition": "insider_transactions", "threshold": 500_000,
               "parameters": {"direction": "buy", "minExecutives": 2, "windowDays": 7}}),
        json!({"condition": "reminder", "parameters": {"date": "2025-07-01"}}),
        json!({"condition": "daily_reminder", "parameters": {"deliveryTime": "after_market_close"}}),
        alert("earnings_announcement", 3.0),
        plain("dividend_ex_date"),
        json!({"condition": "dividend_payment", "parameters": {"shares": 100}}),
        json!({"condition": "expression", "parameters": {"when": "rsi(14) < 40 and price > sma(20)"}}),
        json!({"condition": "expression", "parameters": {"when": "drawdown(20) >= 5"}, "options": {"repeat": "each_time"}}),
    ]
}
