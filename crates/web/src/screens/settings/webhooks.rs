//! `/settings/webhooks`: webhooks with their secrets and a test.

use askama::Template;
use delivery::webhooks::Webhook;
use jiff::Timestamp;

use super::SettingsTab;
use crate::filters;
use crate::form_state::FormState;
use crate::layout::Shell;

/// A webhook.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WebhookLine {
    /// The id.
    pub id: String,
    /// The URL.
    pub url: String,
    /// Whether it is active.
    pub is_active: bool,
    /// The last delivery that was accepted.
    pub last_success_at: Option<Timestamp>,
    /// The first failure since then.
    pub failing_since: Option<Timestamp>,
    /// When and why it was disabled.
    pub disabled: Option<(Timestamp, String)>,
}

impl WebhookLine {
    /// Formats a webhook.
    #[must_use]
    pub fn of(webhook: &Webhook) -> Self {
        Self {
            id: webhook.id.0.to_string(),
            url: webhook.url.clone(),
            is_active: webhook.is_active,
            last_success_at: webhook.last_success_at,
            failing_since: webhook.failing_since,
            disabled: webhook
                .disabled
                .map(|(at, reason)| (at, reason.name().replace('_', " "))),
        }
    }
}

/// A secret that has just been created. It is shown only once.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookSecret {
    /// The URL of the webhook.
    pub url: String,
    /// The secret.
    pub secret: String,
    /// Until when the former secret also signs.
    pub former_until: Option<Timestamp>,
}

impl std::fmt::Debug for WebhookSecret {
    /// Formats the URL without the secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WebhookSecret")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

/// The steps of a test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TestReceipt {
    /// The URL.
    pub url: String,
    /// When the test was requested.
    pub requested_at: Timestamp,
    /// When the message was created, signed and sent.
    pub sent_at: Timestamp,
    /// When the answer was complete, or the attempt had failed.
    pub ended_at: Timestamp,
    /// The time between sending and the end, in milliseconds.
    pub duration_ms: u64,
    /// Whether the receiver has answered.
    pub is_answered: bool,
    /// The outcome.
    pub outcome: String,
    /// The beginning of the answer.
    pub response: String,
}

/// The webhooks.
#[derive(Template, Debug)]
#[template(path = "settings/webhooks.html")]
pub struct WebhooksPage {
    /// The frame.
    pub shell: Shell,
    /// The state of a refused form.
    pub form: FormState,
    /// The webhooks, oldest first.
    pub webhooks: Vec<WebhookLine>,
    /// The secret that has just been created.
    pub secret: Option<WebhookSecret>,
    /// The test that has just been sent.
    pub receipt: Option<TestReceipt>,
}

impl WebhooksPage {
    const TAB: SettingsTab = SettingsTab::Webhooks;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_of_a_test_has_its_time() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let page = WebhooksPage {
            shell: crate::layout::tests::shell(),
            form: FormState::default(),
            webhooks: Vec::new(),
            secret: None,
            receipt: Some(TestReceipt {
                url: "https://receiver.example".to_owned(),
                requested_at: at("2024-03-08T15:00:00Z"),
                sent_at: at("2024-03-08T15:00:00.010Z"),
                ended_at: at("2024-03-08T15:00:00.250Z"),
                duration_ms: 240,
                is_answered: true,
                outcome: "delivered (200)".to_owned(),
                response: String::new(),
            }),
        };
        let html = page.render().unwrap();
        for (time, step) in [
            ("15:00:00.000", "Requested"),
            ("15:00:00.010", "Signed and sent"),
            ("15:00:00.250", "Answered"),
        ] {
            let (_, rest) = html.split_once(time).unwrap();
            assert!(rest.split("</li>").next().unwrap().contains(step), "{step}: {html}");
        }
    }
}
