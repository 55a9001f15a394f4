//! The bodies of the Apprise API: <https://github.com/caronc/apprise-api#api-details>.

use serde::{Deserialize, Serialize};

/// The body of a request.
#[derive(Serialize)]
pub(super) struct AppriseMessage {
    pub(super) title: String,
    pub(super) body: String,
    /// `info` or `warning`, which many services show as a colour.
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    /// `text`: without markup.
    pub(super) format: &'static str,
}

#[derive(Deserialize)]
pub(super) struct AppriseError {
    #[serde(default)]
    pub(super) error: Option<String>,
}
