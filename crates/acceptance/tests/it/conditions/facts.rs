//! Conditions on social mentions and insider transactions.

use acceptance::clock::days_ago;
use acceptance::market::mentions;
use serde_json::{Value, json};

use crate::conditions::table::{ConditionCase, quote};

pub(crate) fn cases() -> Vec<ConditionCase> {
    vec![
        buzz_rising(),
        buzz_falling(),
        insider_purchase_value(),
        insider_count(),
        insider_sales(),
    ]
}

/// Returns mention counts for these hours, with the same count for each hour.
fn counts(hours_ago: impl DoubleEndedIterator<Item = i64>, count: u32) -> Value {
    let rows: Vec<_> = hours_ago.rev().map(|hour| mentions("$", hour, count)).collect();
    json!({ "mentions": rows })
}

/// Returns the usual volume: one mention in each of 192 hours before the current one, which is 24 per day.
fn usual_mentions() -> Vec<Value> {
    vec![quote(100.0), counts(1..=192, 1)]
}

fn buzz_rising() -> ConditionCase {
    ConditionCase {
        condition: "social_buzz",
        settings: json!({"parameters": {"direction": "rising"}}),
        data_before: usual_mentions(),
        // 23 hours with one mention each, plus the current hour: 47 in 24 hours, then 48, which is twice the usual volume.
        not_firing: vec![counts(0..=0, 24)],
        firing: counts(0..=0, 25),
        price: 100.0,
    }
}

fn buzz_falling() -> ConditionCase {
    ConditionCase {
        condition: "social_buzz",
        settings: json!({"parameters": {"direction": "falling"}}),
        data_before: usual_mentions(),
        // The counts of eleven hours are corrected to 0: 13 in 24 hours, then 12, which is half the usual volume.
        not_firing: vec![counts(1..=11, 0), counts(0..=0, 1)],
        firing: counts(0..=0, 0),
        price: 100.0,
    }
}

/// Returns a trade that was filed `days` days ago.
fn trade(days: i64, insider: &str, code: &str, side: &str, shares: i64, price: f64) -> Value {
    json!({"insider_transactions": [{"symbol": "$", "filed_on": days_ago(days).to_string(),
        "traded_on": days_ago(days + 1).to_string(), "insider": insider, "code": code, "side": side,
        "shares": shares, "price": price}]})
}

fn insider_purchase_value() -> ConditionCase {
    ConditionCase {
        condition: "insider_transactions",
        settings: json!({"threshold": 500_000, "parameters": {"direction": "buy"}}),
        data_before: vec![quote(100.0)],
        not_firing: vec![
            trade(7, "Too Early", "P", "buy", 1_000_000, 100.0),
            trade(1, "The Seller", "S", "sell", 1_000_000, 100.0),
            trade(1, "Granted", "A", "buy", 1_000_000, 100.0),
            trade(6, "First", "P", "buy", 3_000, 100.0),
            trade(0, "First", "P", "buy", 1, 199_999.99),
        ],
        firing: trade(0, "Second", "P", "buy", 1, 0.01),
        price: 100.0,
    }
}

fn insider_count() -> ConditionCase {
    ConditionCase {
        condition: "insider_transactions",
        settings: json!({"threshold": 1000, "parameters": {"direction": "both", "minExecutives": 3, "windowDays": 2}}),
        data_before: vec![quote(100.0)],
        not_firing: vec![
            trade(1, "First", "P", "buy", 50, 100.0),
            trade(0, "First", "S", "sell", 50, 100.0),
            trade(0, "Second", "S", "sell", 50, 100.0),
            trade(2, "Third", "P", "buy", 50, 100.0),
        ],
        firing: trade(1, "Third", "P", "buy", 1, 1.0),
        price: 100.0,
    }
}

fn insider_sales() -> ConditionCase {
    ConditionCase {
        condition: "insider_transactions",
        settings: json!({"threshold": 1000, "parameters": {"direction": "sell", "openMarketOnly": false}}),
        data_before: vec![quote(100.0)],
        not_firing: vec![
            trade(0, "First", "P", "buy", 50, 100.0),
            trade(0, "First", "F", "sell", 9, 100.0),
        ],
        firing: trade(0, "First", "F", "sell", 1, 100.0),
        price: 100.0,
    }
}
