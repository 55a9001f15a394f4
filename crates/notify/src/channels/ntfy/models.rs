//! The bodies of ntfy: <https://docs.ntfy.sh/publish/#publish-as-json>.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The body of a request.
#[derive(Serialize)]
pub(super) struct NtfyMessage<'a> {
    pub(super) topic: &'a str,
    pub(super) title: String,
    pub(super) message: String,
    /// 3 is the default, 5 the maximum.
    pub(super) priority: u8,
    /// The page that a click on the notification opens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) click: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) actions: Vec<NtfyAction<'a>>,
    /// A message with the same id replaces the notification: <https://docs.ntfy.sh/publish/#updating-deleting-notifications>.
    pub(super) sequence_id: Uuid,
}

/// A button that sends a request: <https://docs.ntfy.sh/publish/#send-http-request>.
#[derive(Serialize)]
#[serde(tag = "action", rename = "http")]
pub(super) struct NtfyAction<'a> {
    pub(super) label: &'static str,
    pub(super) url: &'a str,
    pub(super) method: &'static str,
    /// Whether the notification disappears after a successful request.
    pub(super) clear: bool,
}

/// The message that ntfy has published.
#[derive(Deserialize)]
pub(super) struct PublishedMessage {
    pub(super) id: String,
}

/// An error: the code is the HTTP status and two digits.
#[derive(Default, Deserialize)]
pub(super) struct NtfyError {
    #[serde(default)]
    pub(super) code: Option<u32>,
    #[serde(default)]
    pub(super) error: Option<String>,
}
