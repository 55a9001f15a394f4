//! The bodies of push messages, which the service worker of the dashboard reads, and of errors of push services.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A message for the service worker (`crates/web/assets/sw.js`).
#[derive(Serialize)]
pub(super) struct PushContent<'a> {
    pub(super) title: String,
    pub(super) body: String,
    /// The page that a click on the notification opens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) url: Option<&'a str>,
    /// A notification with the same tag replaces the former one.
    pub(super) tag: Uuid,
    /// Whether the notification stays until its recipient closes it.
    pub(super) urgent: bool,
    pub(super) actions: Vec<PushAction<'a>>,
}

/// A button that opens a page.
#[derive(Serialize)]
pub(super) struct PushAction<'a> {
    pub(super) title: &'static str,
    pub(super) url: &'a str,
}

/// An error. Mozilla's service has a `message`, Apple's a `reason`; others answer with plain text.
#[derive(Default, Deserialize)]
pub(super) struct PushServiceError {
    #[serde(default)]
    pub(super) message: Option<String>,
    #[serde(default)]
    pub(super) reason: Option<String>,
}
