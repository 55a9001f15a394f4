//! Invented bars and counts.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::clock::{days_ago, now};

/// One session of a stock.
#[derive(Clone, Copy, Debug)]
pub struct Session {
    /// Its last price.
    pub close: f64,
    /// Its highest price.
    pub high: f64,
    /// Its lowest price.
    pub low: f64,
    /// Its shares.
    pub volume: i64,
}

/// A session in which nothing moved.
#[must_use]
pub const fn flat(close: f64) -> Session {
    Session {
        close,
        high: close,
        low: close,
        volume: 1000,
    }
}

/// Bars of the days up to yesterday in New York, the last of them last. The market is open every day.
#[must_use]
pub fn bars(symbol: &str, sessions: &[Session]) -> Value {
    let rows = sessions
        .iter()
        .rev()
        .zip(1..)
        .map(|(session, days)| bar(symbol, days, *session));
    Value::Array(rows.collect())
}

/// The bar of a day in New York.
#[must_use]
pub fn bar(symbol: &str, days: i64, session: Session) -> Value {
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

/// The hour that began last.
#[must_use]
pub fn this_hour() -> Timestamp {
    let second = now().as_second();
    Timestamp::from_second(second - second.rem_euclid(3600)).unwrap()
}

/// How often a stock was mentioned in the hour so many hours ago.
#[must_use]
pub fn mentions(symbol: &str, hours_ago: i64, count: u32) -> Value {
    let hour = this_hour() - SignedDuration::from_hours(hours_ago);
    json!({"symbol": symbol, "time": hour.to_string(), "mentions": count})
}
