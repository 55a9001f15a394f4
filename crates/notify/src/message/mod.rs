//! Webhook bodies and Slack messages.
//!
//! A webhook body is compact JSON, `{id, event, timestamp, data}`, formatted as in JavaScript, because some receivers verify the
//! signature over the `JSON.stringify` of the parsed body. `data` is created when an alert fires, and is inserted unchanged. Slack
//! messages have a separate format, see [`slack`].

pub mod slack;
mod test_event;

use bytes::Bytes;
use jiff::Timestamp;
use uuid::Uuid;

pub use test_event::test_event_data;

/// The event type of a fired alert, the only event type.
pub const ALERT_TRIGGERED: &str = "alert.triggered";

/// Formats an instant for bodies and headers: `2024-03-08T14:30:00.000Z`.
#[must_use]
pub fn instant(at: Timestamp) -> String {
    format!("{at:.3}")
}

/// Returns the body of a webhook delivery. `event` is an event type like `alert.triggered`; `data` must be JSON as written by
/// [`alerts::json`].
#[must_use]
pub fn webhook_body(id: Uuid, event: &str, at: Timestamp, data: &str) -> Bytes {
    let event = alerts::json::text(&event.into());
    Bytes::from(format!(
        r#"{{"id":"{id}","event":{event},"timestamp":"{}","data":{data}}}"#,
        instant(at)
    ))
}
