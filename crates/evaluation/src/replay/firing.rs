//! The output line of each firing of a replay.

use alerts::ConditionKind;
use alerts::json::{self, number};
use jiff::Timestamp;
use market::{Decimal, Price, Symbol};
use serde::Serialize;
use serde_json::Number;

/// A firing of an alert.
#[derive(Clone, PartialEq, Debug)]
pub struct ReplayFiring {
    /// The time of the firing.
    pub time: Timestamp,
    /// The index of the alert in the list.
    pub alert_index: usize,
    /// The stock.
    pub symbol: Symbol,
    /// The condition.
    pub condition: ConditionKind,
    /// The threshold; a price is per share of that day.
    pub threshold: Option<Decimal>,
    /// The stock's price, if one was observed.
    pub price: Option<Price>,
    /// The evaluated number.
    pub metric: Option<Decimal>,
    /// The reason as a sentence.
    pub reason: String,
}

/// The fields of the JSON line, in output order.
#[derive(Serialize)]
struct Line<'a> {
    time: String,
    alert_index: usize,
    symbol: &'a str,
    condition: &'static str,
    threshold: Option<Number>,
    price: Option<Number>,
    metric: Option<Number>,
    reason: &'a str,
}

impl ReplayFiring {
    /// Returns `{time, alert_index, symbol, condition, threshold, price, metric, reason}` as one line of JSON.
    #[must_use]
    pub fn to_json_line(&self) -> String {
        let line = Line {
            time: format!("{:.3}", self.time),
            alert_index: self.alert_index,
            symbol: self.symbol.as_str(),
            condition: self.condition.name(),
            threshold: self.threshold.and_then(number),
            price: self.price.map(Price::decimal).and_then(number),
            metric: self.metric.and_then(number),
            reason: &self.reason,
        };
        let bytes = json::to_vec(&line).expect("strings and numbers always have a JSON form");
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
