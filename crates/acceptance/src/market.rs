//! Generated bars and mention counts.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::clock::{days_ago, now};

/// Prices and volume of one trading session of a stock.
#[derive(Clone, Copy, Debug)]
pub struct SessionBar {
    /// Closing price.
    pub close: f64,
    /// Highest price.
    pub high: f64,
    /// Lowest price.
    pub low: f64,
    /// Traded shares.
    pub volume: i64,
}

/// Returns a session with a constant price and 1000 traded shares.
#[must_use]
pub const fn flat(close: f64) -> SessionBar {
    SessionBar {
        close,
        high: close,
        low: close,
        volume: 1000,
    }
}

/// Returns bars of consecutive days that end with yesterday in New York. The order of `sessions` is oldest first; every day is a
/// trading day.
#[must_use]
pub fn bars(symbol: &str, sessions: &[SessionBar]) -> Value {
    let rows = sessions
        .iter()
        .rev()
        .zip(1..)
        .map(|(session, days)| bar(symbol, days, *session));
    Value::Array(rows.collect())
}

/// Returns the bar of the date `days` days before today in New York.
#[must_use]
pub fn bar(symbol: &str, days: i64, session: SessionBar) -> Value {
    json!({
        "symbol": symbol,
        "date": days_ago(days).to_string(),
        "open": session.close.clamp(session.low, session.high),
        "high": session.high,
        "low": session.low,
        "close": session.close,
        "volume": session.volume,
    })
}

/// Returns the start of the current hour.
#[must_use]
pub fn current_hour_start() -> Timestamp {
    let second = now().as_second();
    Timestamp::from_second(second - second.rem_euclid(3600)).unwrap()
}

/// Returns the mention count of a stock for the hour `hours_ago` hours before the current one.
#[must_use]
pub fn mentions(symbol: &str, hours_ago: i64, count: u32) -> Value {
    let hour = current_hour_start() - SignedDuration::from_hours(hours_ago);
    json!({"symbol": symbol, "time": hour.to_string(), "mentions": count})
}
