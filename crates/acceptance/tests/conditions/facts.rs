//! Conditions on what people say and what insiders do.

use acceptance::clock::days_ago;
use acceptance::market::mentions;
use serde_json::{Value, json};

use crate::table::{Case, quote};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        buzz_rising(),
        buzz_falling(),
        insiders_worth(),
        insiders_many(),
        insiders_selling(),
    ]
}

/// Counts of hours, each of them.
fn counts(hours_ago: impl DoubleEndedIterator<Item = i64>, count: u32) -> Value {
    let rows: Vec<_> = hours_ago.rev().map(|hour| mentions("$", hour, count)).collect();
    json!({ "mentions": rows })
}

/// One mention in each of the eight days' hours up to the last but one: 24 a day are usual.
fn usual() -> Vec<Value> {
    vec![quote(100.0), counts(1..=192, 1)]
}

fn buzz_rising() -> Case {
    Case {
        condition: "social_buzz",
        asked: json!({"parameters": {"direction": "rising"}}),
        known: usual(),
        // 23 hours with one each, and the last: 47 in 24 hours, and then 48, which is twice as many as usual.
        quiet: vec![counts(0..=0, 24)],
        fires: counts(0..=0, 25),
        price: 100.0,
    }
}

fn buzz_falling() -> Case {
    Case {
        condition: "social_buzz",
        asked: json!({"parameters": {"direction": "falling"}}),
        known: usual(),
        // The counts of eleven hours are corrected to none; then 13 in 24 hours, and then 12, half as many as usual.
        quiet: vec![counts(1..=11, 0), counts(0..=0, 1)],
        fires: counts(0..=0, 0),
        price: 100.0,
    }
}

/// A trade filed so many days ago.
fn trade(days: i64, insider: &str, code: &str, side: &str, shares: i64, price: f64) -> Value {
    json!({"insider_transactions": [{"symbol": "$", "filed_on": days_ago(days).to_string(),
        "traded_on": days_ago(days + 1).to_string(), "insider": insider, "code": code, "side": side,
        "shares": shares, "price": price}]})
}

fn insiders_worth() -> Case {
    Case {
        condition: "insider_transactions",
        asked: json!({"threshold": 500_000, "parameters": {"direction": "buy"}}),
        known: vec![quote(100.0)],
        quiet: vec![
            trade(7, "Too Early", "P", "buy", 1_000_000, 100.0),
            trade(1, "The Seller", "S", "sell", 1_000_000, 100.0),
            trade(1, "Granted", "A", "buy", 1_000_000, 100.0),
            trade(6, "First", "P", "buy", 3_000, 100.0),
            trade(0, "First", "P", "buy", 1, 199_999.99),
        ],
        fires: trade(0, "Second", "P", "buy", 1, 0.01),
        price: 100.0,
    }
}

fn insiders_many() -> Case {
    Case {
        condition: "insider_transactions",
        asked: json!({"threshold": 1000, "parameters": {"direction": "both", "minExecutives": 3, "windowDays": 2}}),
        known: vec![quote(100.0)],
        quiet: vec![
            trade(1, "First", "P", "buy", 50, 100.0),
            trade(0, "First", "S", "sell", 50, 100.0),
            trade(0, "Second", "S", "sell", 50, 100.0),
            trade(2, "Third", "P", "buy", 50, 100.0),
        ],
        fires: trade(1, "Third", "P", "buy", 1, 1.0),
        price: 100.0,
    }
}

fn insiders_selling() -> Case {
    Case {
        condition: "insider_transactions",
        asked: json!({"threshold": 1000, "parameters": {"direction": "sell", "openMarketOnly": false}}),
        known: vec![quote(100.0)],
        quiet: vec![
            trade(0, "First", "P", "buy", 50, 100.0),
            trade(0, "First", "F", "sell", 9, 100.0),
        ],
        fires: trade(0, "First", "F", "sell", 1, 100.0),
        price: 100.0,
    }
}
