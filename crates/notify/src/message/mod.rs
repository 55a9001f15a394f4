//! What is told, in the form of each channel.
//!
//! A webhook's body is `{id, event, timestamp, data}`, compact, in JavaScript's own form: some receivers check a signature over
//! what their `JSON.stringify` makes of the parsed body. `data` is made when an alert fires (it is the event's record), and
//! goes into the body as it is. Slack has a form of its own, [`slack`].

pub mod slack;
mod test_event;

use bytes::Bytes;
use jiff::Timestamp;
use uuid::Uuid;

pub use test_event::test_data;

/// The event of an alert that fired, the only one there is.
pub const ALERT_TRIGGERED: &str = "alert.triggered";

/// An instant as bodies and headers have it: `2024-03-08T14:30:00.000Z`.
#[must_use]
pub fn instant(at: Timestamp) -> String {
    format!("{at:.3}")
}

/// The body of a webhook's delivery. `event` is a name like `alert.triggered`; `data` must be JSON as
/// [`alerts::json`] writes it.
#[must_use]
pub fn webhook_body(id: Uuid, event: &str, at: Timestamp, data: &str) -> Bytes {
    let event = alerts::json::text(&event.into());
    Bytes::from(format!(
        r#"{{"id":"{id}","event":{event},"timestamp":"{}","data":{data}}}"#,
        instant(at)
    ))
}
