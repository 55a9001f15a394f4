//! What a replay tells of each firing.

use alerts::ConditionKind;
use alerts::engine::Reason;
use jiff::Timestamp;
use jiff::fmt::temporal::DateTimePrinter;
use market::{Decimal, Price, Symbol};
use serde_json::{Map, Number, Value};

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

impl Firing {
    /// `{time, alert_index, symbol, condition, threshold, price, metric, reason}`, for one line of output.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let or_null = |decimal: Option<Decimal>| decimal.map_or(Value::Null, number);
        let fields = [
            ("time", Value::from(milliseconds(self.time))),
            ("alert_index", Value::from(self.alert_index)),
            ("symbol", Value::from(self.symbol.as_str())),
            ("condition", Value::from(self.condition.name())),
            ("threshold", or_null(self.threshold)),
            ("price", or_null(self.price.map(Price::decimal))),
            ("metric", or_null(self.reason.metric())),
            ("reason", Value::from(self.reason.to_string())),
        ];
        Value::Object(
            fields
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect::<Map<_, _>>(),
        )
    }
}

/// RFC 3339 in UTC with milliseconds.
fn milliseconds(at: Timestamp) -> String {
    DateTimePrinter::new().precision(Some(3)).timestamp_to_string(&at)
}

/// A JSON number in the form JavaScript prints it: no decimals where there are none.
fn number(decimal: Decimal) -> Value {
    match decimal.as_whole() {
        Some(whole) => Value::from(whole),
        None => Number::from_f64(decimal.as_f64()).map_or(Value::Null, Value::Number),
    }
}
