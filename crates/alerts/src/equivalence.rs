//! Detection of create requests that duplicate an existing alert.
//!
//! A repeated create request must not notify its owner twice, so it is answered with the existing alert. This module compares
//! one alert with one request. The caller selects the candidates and ensures that both have the same owner.

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::alert::{Alert, NewAlert, Status};
use crate::condition::Condition;
use crate::request::NOTE;

type Parameters = Option<Map<String, Value>>;

/// Returns whether `existing` satisfies `request`, a create request of the same owner.
///
/// There are two cases.
///
/// **Same condition**: the symbol and the condition are equal, and the alert is active, paused or inactive, so it can still
/// fire. Conditions are compared after parsing, with threshold, own parameters and options: an omitted default equals the same default
/// written out, and `delivery_time` equals `deliveryTime`. A snooze that has ended by `now` counts as omitted. The channel and client metadata (a rationale, a source) are ignored.
/// The analyst's alerts are an exception, because they are deleted together with their watchlist item: such an alert does not
/// satisfy a request of the owner, nor one for another item. An alert of the owner does satisfy a request of the analyst.
///
/// **Same `parameters.onboarding_id`**: the request repeats the one that created the alert, whatever its other content and
/// whatever the alert's status, triggered included. Null, an empty string, and values other than strings and numbers do not
/// count as an id.
#[must_use]
pub fn equivalent(existing: &Alert, request: &NewAlert, now: Timestamp) -> bool {
    is_repeat(&existing.parameters, &request.parameters) || is_same(existing, request, now)
}

fn is_repeat(existing: &Parameters, request: &Parameters) -> bool {
    onboarding_id(existing).is_some_and(|id| onboarding_id(request) == Some(id))
}

fn is_same(existing: &Alert, request: &NewAlert, now: Timestamp) -> bool {
    let can_still_fire = match existing.status {
        Status::Active | Status::Paused | Status::Inactive => true,
        Status::Triggered => false,
    };
    let item = item_of_analyst(&existing.parameters);
    can_still_fire
        && existing.symbol == request.symbol
        && existing.condition == request.condition
        && existing.options.clone().without_ended_snooze(now) == request.options.clone().without_ended_snooze(now)
        && note(&existing.condition, &existing.parameters) == note(&request.condition, &request.parameters)
        && (item.is_none() || item == item_of_analyst(&request.parameters))
}

/// Returns the note of a reminder.
fn note<'a>(condition: &Condition, parameters: &'a Parameters) -> Option<&'a Value> {
    match condition {
        Condition::Reminder { .. } | Condition::DailyReminder(_) => parameter(parameters, NOTE),
        _ => None,
    }
}

fn onboarding_id(parameters: &Parameters) -> Option<&Value> {
    parameter(parameters, "onboarding_id").filter(|id| match id {
        Value::String(text) => !text.is_empty(),
        other => other.is_number(),
    })
}

/// Returns the watchlist item of an alert that the analyst made; null if it names none.
fn item_of_analyst(parameters: &Parameters) -> Option<&Value> {
    let source = parameter(parameters, "source")?;
    (source == "ai").then(|| parameter(parameters, "watchlist_item_id").unwrap_or(&Value::Null))
}

fn parameter<'a>(parameters: &'a Parameters, name: &str) -> Option<&'a Value> {
    parameters.as_ref()?.get(name)
}
