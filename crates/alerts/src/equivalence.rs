//! Whether a request asks for an alert that is there already.
//!
//! A create request that is sent twice, or meant twice, must not tell its owner everything twice:
//! it is answered with the alert that exists. This room compares one alert with one request; that
//! both have the same owner, and whom to look for, is the caller's business.

use serde_json::{Map, Value};

use crate::alert::{Alert, NewAlert, Status};
use crate::condition::Condition;
use crate::request::NOTE;

type Parameters = Option<Map<String, Value>>;

/// Whether `existing` is what `asked`, a request of the same owner, asks for.
///
/// It is in two cases.
///
/// **They ask for the same thing**: the symbol and the condition are the same, and the alert is
/// still going to fire or can be made to, which is active, paused or inactive. The condition is
/// compared as it is judged, with its threshold and its own parameters; so a default that is left
/// out equals the same default written down, and `delivery_time` equals `deliveryTime`. The channel
/// and the marks that clients set for themselves (a rationale, a source) make no difference: the
/// owner would be told the same twice. One mark does: an alert that the analyst made is deleted
/// together with its watchlist item, so it cannot stand for one that its owner asks for, nor for
/// one of another item. The other way round it can: what the owner has made, the analyst need not
/// make again.
///
/// **They carry the same `parameters.onboarding_id`**: then the request is a repeat of the one that
/// made the alert, whatever else it says by now and whatever has become of the alert, triggered
/// included. A null, an empty text and anything but a text or a number is no such id.
#[must_use]
pub fn equivalent(existing: &Alert, asked: &NewAlert) -> bool {
    is_repeat(&existing.parameters, &asked.parameters) || is_same(existing, asked)
}

fn is_repeat(existing: &Parameters, asked: &Parameters) -> bool {
    onboarding_id(existing).is_some_and(|id| onboarding_id(asked) == Some(id))
}

fn is_same(existing: &Alert, asked: &NewAlert) -> bool {
    let stands = match existing.status {
        Status::Active | Status::Paused | Status::Inactive => true,
        Status::Triggered => false,
    };
    let item = item_of_analyst(&existing.parameters);
    stands
        && existing.symbol == asked.symbol
        && existing.condition == asked.condition
        && note(&existing.condition, &existing.parameters) == note(&asked.condition, &asked.parameters)
        && (item.is_none() || item == item_of_analyst(&asked.parameters))
}

/// The note of a reminder.
fn note<'a>(condition: &Condition, parameters: &'a Parameters) -> Option<&'a Value> {
    match condition {
        Condition::Reminder { .. } | Condition::DailyReminder(_) => mark(parameters, NOTE),
        _ => None,
    }
}

fn onboarding_id(parameters: &Parameters) -> Option<&Value> {
    mark(parameters, "onboarding_id").filter(|id| match id {
        Value::String(text) => !text.is_empty(),
        other => other.is_number(),
    })
}

/// The watchlist item that an alert of the analyst's belongs to; null when it names none.
fn item_of_analyst(parameters: &Parameters) -> Option<&Value> {
    let source = mark(parameters, "source")?;
    (source == "ai").then(|| mark(parameters, "watchlist_item_id").unwrap_or(&Value::Null))
}

fn mark<'a>(parameters: &'a Parameters, name: &str) -> Option<&'a Value> {
    parameters.as_ref()?.get(name)
}
