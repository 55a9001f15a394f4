//! The payload of a firing: the `data` of an `alert.triggered` event.

use std::sync::Arc;

use ::alerts::engine::ExplainedTerm;
use ::alerts::{Alert, Note, Status, json};
use ::market::calendar::new_york_date;
use ::market::{Price, PriceChange};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};
use store::model::{Firing, FiringComposer, StoredAlert};

use super::Evaluator;

/// The `data` of an event.
#[derive(Serialize)]
struct EventData<'a> {
    alert: AlertPart<'a>,
    stock: StockPart<'a>,
    company_name: &'a str,
    reason: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    explanation: Vec<TermPart<'a>>,
}

/// A comparison at the firing, of an expression or of an alert with options.
#[derive(Serialize)]
struct TermPart<'a> {
    text: &'a str,
    left: Option<f64>,
    right: Option<f64>,
    holds: Option<bool>,
}

impl<'a> TermPart<'a> {
    fn of(term: &'a ExplainedTerm) -> Self {
        Self {
            text: &term.text,
            left: term.left.map(|value| value.as_f64()),
            right: term.right.map(|value| value.as_f64()),
            holds: term.holds,
        }
    }
}

#[derive(Serialize)]
struct AlertPart<'a> {
    id: String,
    symbol: &'a str,
    condition: &'static str,
    threshold: Option<f64>,
    status: &'static str,
    notification: &'static str,
    triggered_at: String,
    /// Present only for a late firing, so that the payload of all others is unchanged.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    late: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    crossed_at: Option<String>,
    triggered_value: Option<f64>,
    initial_price: Option<f64>,
    parameters: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    tags: &'a [String],
}

#[derive(Serialize)]
struct StockPart<'a> {
    symbol: &'a str,
    price: Option<f64>,
    change: Option<f64>,
    change_percent: Option<f64>,
}

/// Composes firings from the data of the evaluator. It reads earlier closes from the engine, so it must not be called while the
/// engine is locked.
pub(super) struct EventComposer(pub(super) Arc<Evaluator>);

impl FiringComposer for EventComposer {
    fn data(&self, stored: &StoredAlert, firing: &Firing) -> String {
        let Self(evaluator) = self;
        let name = evaluator.catalog.get(stored.alert.symbol);
        let name = name
            .as_ref()
            .map_or(stored.alert.symbol.as_str(), |entry| &entry.row.name);
        let previous = match firing.crossed_at {
            Some(at) => evaluator.close_before(stored.alert.symbol, new_york_date(at)),
            None => evaluator.close_before_price(&stored.alert, firing.at),
        };
        compose(stored, firing, name, previous)
    }

    fn quoted_at(&self, stored: &StoredAlert, firing: &Firing) -> Option<Timestamp> {
        firing.price?;
        let known = || self.0.quote_times.known(stored.alert.symbol, firing.at);
        firing.crossed_at.or_else(known)
    }

    fn now(&self) -> Option<Timestamp> {
        Some(self.0.clock.now())
    }
}

fn compose(stored: &StoredAlert, firing: &Firing, company_name: &str, previous: Option<Price>) -> String {
    let alert = &stored.alert;
    let change = firing
        .price
        .zip(previous)
        .map(|(price, previous)| PriceChange::between(previous, price));
    let data = EventData {
        alert: AlertPart {
            id: stored.shown_id().to_string(),
            symbol: alert.symbol.as_str(),
            condition: alert.condition.kind().name(),
            threshold: alert.condition.threshold().map(|threshold| threshold.as_f64()),
            status: status(alert).name(),
            notification: alert.notification.name(),
            triggered_at: instant(firing.at),
            late: firing.crossed_at.is_some(),
            crossed_at: firing.crossed_at.map(instant),
            triggered_value: firing.metric.map(|metric| metric.as_f64()),
            initial_price: alert.initial_price.map(Price::as_f64),
            parameters: alert.parameters.clone().map(json::in_javascript_order),
            note: alert.note.as_ref().map(Note::as_str),
            tags: alert.tags.as_slice(),
        },
        stock: StockPart {
            symbol: alert.symbol.as_str(),
            price: firing.price.map(Price::as_f64),
            change: change.map(|change| change.absolute.as_f64()),
            change_percent: change.map(|change| change.percent.as_f64()),
        },
        company_name,
        reason: &firing.reason,
        explanation: firing.terms.iter().map(TermPart::of).collect(),
    };
    // Texts, numbers and maps with text keys always serialize.
    let bytes = json::to_vec(&data).unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}

/// A daily reminder stays active, but the event is about its firing. That of an alert with options tells whether it fires again.
const fn status(alert: &Alert) -> Status {
    match alert.lifecycle {
        Some(_) => alert.status,
        None => Status::Triggered,
    }
}

/// `2024-03-08T14:30:00.000Z`
fn instant(at: Timestamp) -> String {
    format!("{at:.3}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_have_milliseconds_in_utc() {
        let at = Timestamp::from_microsecond(1_709_908_200_000_999).unwrap();
        assert_eq!(instant(at), "2024-03-08T14:30:00.000Z");
    }
}
