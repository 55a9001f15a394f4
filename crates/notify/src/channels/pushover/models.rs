//! The bodies of the Messages API: <https://pushover.net/api#messages>. Requests are forms.

use serde::Deserialize;

/// The body of a request.
pub(super) struct PushoverMessage {
    pub(super) title: String,
    pub(super) message: String,
    /// 0 is normal, 1 is high: it bypasses the quiet hours of the recipient.
    pub(super) priority: &'static str,
    /// The supplementary URL and its title.
    pub(super) link: Option<(String, &'static str)>,
}

impl PushoverMessage {
    /// Returns the message as a form.
    pub(super) fn form(&self, token: &str, user: &str) -> String {
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        form.append_pair("token", token)
            .append_pair("user", user)
            .append_pair("title", &self.title)
            .append_pair("message", &self.message)
            .append_pair("priority", self.priority);
        if let Some((url, title)) = &self.link {
            form.append_pair("url", url).append_pair("url_title", title);
        }
        form.finish()
    }
}

/// A response: `{"status": 1, "request": …}`, or an error, `{"user": "invalid", "errors": […], "status": 0, "request": …}`.
#[derive(Default, Deserialize)]
pub(super) struct PushoverResponse {
    /// 1 if the message was accepted.
    #[serde(default)]
    pub(super) status: Option<i64>,
    /// The id of the request.
    #[serde(default)]
    pub(super) request: Option<String>,
    #[serde(default)]
    pub(super) errors: Vec<String>,
}
