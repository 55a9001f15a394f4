//! What a replay tells of each firing.

use alerts::ConditionKind;
use alerts::engine::Reason;
use jiff::Timestamp;
use jiff::fmt::temporal::DateTimePrinter;
use market::{Decimal, Price, Symbol};
use serde::Serialize;
use serde_json::Number;

/// An alert fired.
#[derive(Clone, PartialEq, Debug)]
pub struct Firing {
    /// When.
    pub time: Timestamp,
    /// Which alert: its place in the list.
    pub alert_index: usize,
    /// Its stock.
    pub symbol: Symbol,
    /// Its condition.
    pub condition: ConditionKind,
    /// Its threshold, per today's share if it is a price.
    pub threshold: Option<Decimal>,
    /// The stock's price, if one was observed.
    pub price: Option<Price>,
    /// Why.
    pub reason: Reason,
}

/// The line, in the order in which it is written.
#[derive(Serialize)]
struct Line<'a> {
    time: String,
    alert_index: usize,
    symbol: &'a str,
    condition: &'static str,
    threshold: Option<Number>,
    price: Option<Number>,
    metric: Option<Number>,
    reason: String,
}

impl Firing {
    /// `{time, alert_index, symbol, condition, threshold, price, metric, reason}` as one line of JSON.
    #[must_use]
    pub fn to_json_line(&self) -> String {
        let line = Line {
            time: milliseconds(self.time),
            alert_index: self.alert_index,
            symbol: self.symbol.as_str(),
            condition: self.condition.name(),
            threshold: self.threshold.and_then(number),
            price: self.price.map(Price::decimal).and_then(number),
            metric: self.reason.metric().and_then(number),
            reason: self.reason.to_string(),
        };
        let bytes = alerts::json::to_vec(&line).expect("strings and numbers always have a JSON form");
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// RFC 3339 in UTC with milliseconds.
fn milliseconds(at: Timestamp) -> String {
    DateTimePrinter::new().precision(Some(3)).timestamp_to_string(&at)
}

/// A JSON number.
fn number(decimal: Decimal) -> Option<Number> {
    match decimal.as_whole() {
        Some(whole) => Some(whole.into()),
        None => Number::from_f64(decimal.as_f64()),
    }
}
