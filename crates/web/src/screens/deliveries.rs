//! Deliveries to webhooks and messages about alerts: what was sent, when, and what the receiver answered.

mod message;

use askama::Template;
use delivery::webhooks::{Attempt, Delivery, DeliveryDetail, DeliveryStatus, Webhook};
use jiff::{SignedDuration, Timestamp};
use service::alerts::AlertSentences;

use crate::filters;
use crate::layout::Shell;

pub use message::{MessageLine, SentAbout};

/// The filters of the list.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DeliveryQuery {
    /// The id of the webhook; empty for all.
    pub webhook: String,
    /// The status.
    pub status: Option<DeliveryStatus>,
}

/// A webhook as a choice.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WebhookChoice {
    /// The id.
    pub id: String,
    /// The URL.
    pub url: String,
}

impl WebhookChoice {
    /// Formats a webhook.
    #[must_use]
    pub fn of(webhook: &Webhook) -> Self {
        Self {
            id: webhook.id.0.to_string(),
            url: webhook.url.clone(),
        }
    }
}

/// A delivery in the list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeliveryLine {
    /// The id.
    pub id: String,
    /// The webhook.
    pub webhook: WebhookChoice,
    /// The alert that fired.
    pub about: SentAbout,
    /// The time of the event.
    pub created_at: Timestamp,
    /// The status.
    pub status: DeliveryStatus,
    /// The number of attempts.
    pub attempts: usize,
    /// The outcome of the last attempt.
    pub outcome: Option<String>,
    /// The time from the event to the answer that accepted it, in milliseconds.
    pub delay_ms: Option<i64>,
    /// When the next attempt is due.
    pub next_attempt_at: Option<Timestamp>,
}

impl DeliveryLine {
    /// Formats a delivery to a webhook.
    #[must_use]
    pub fn of(webhook: &Webhook, delivery: &Delivery, sentences: &AlertSentences) -> Self {
        let last = delivery.attempts.last();
        Self {
            id: delivery.id.0.to_string(),
            webhook: WebhookChoice::of(webhook),
            about: SentAbout::of(delivery.alert, sentences),
            created_at: delivery.created_at,
            status: delivery.status,
            attempts: delivery.attempts.len(),
            outcome: last.map(outcome),
            delay_ms: last
                .filter(|_| delivery.status == DeliveryStatus::Delivered)
                .map(|attempt| delay_ms(delivery.created_at, attempt)),
            next_attempt_at: delivery.next_attempt_at,
        }
    }

    pub(crate) const fn status_text(&self) -> &'static str {
        status_text(&self.status)
    }

    pub(crate) const fn mark(&self) -> &'static str {
        mark(self.status)
    }

    pub(crate) const fn style(&self) -> &'static str {
        style(self.status)
    }
}

/// Returns the id of a status's text.
const fn status_text(status: &DeliveryStatus) -> &'static str {
    match *status {
        DeliveryStatus::Pending => "delivery-pending",
        DeliveryStatus::Delivered => "delivery-delivered",
        DeliveryStatus::Failed => "delivery-failed",
    }
}

/// Returns a symbol, so that color alone never tells statuses apart.
const fn mark(status: DeliveryStatus) -> &'static str {
    match status {
        DeliveryStatus::Pending => "◌",
        DeliveryStatus::Delivered => "✓",
        DeliveryStatus::Failed => "✕",
    }
}

/// Returns the name of the style that a status shares with a state of alerts.
const fn style(status: DeliveryStatus) -> &'static str {
    match status {
        DeliveryStatus::Pending => "waiting",
        DeliveryStatus::Delivered => "active",
        DeliveryStatus::Failed => "blind",
    }
}

/// Returns the outcome of an attempt, with the HTTP status of the answer.
fn outcome(attempt: &Attempt) -> String {
    let words = attempt.outcome.replace('_', " ");
    match attempt.http_status {
        Some(status) => format!("{words} ({status})"),
        None => words,
    }
}

fn delay_ms(created_at: Timestamp, attempt: &Attempt) -> i64 {
    let answered = SignedDuration::from_millis(i64::try_from(attempt.duration_ms).unwrap_or(i64::MAX));
    let waited = attempt.at.duration_since(created_at);
    i64::try_from(waited.saturating_add(answered).as_millis()).unwrap_or(i64::MAX)
}

/// The times from an event to the answer that accepted it, in milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DelayQuantiles {
    /// The median.
    pub p50: i64,
    /// The 99th percentile (nearest rank).
    pub p99: i64,
}

impl DelayQuantiles {
    /// Computes the quantiles of delivered lines; `None` if nothing is delivered.
    #[must_use]
    pub fn of(lines: &[DeliveryLine]) -> Option<Self> {
        let mut delays: Vec<i64> = lines.iter().filter_map(|line| line.delay_ms).collect();
        delays.sort_unstable();
        let rank = |percent: usize| delays.get((delays.len() * percent).div_ceil(100).max(1) - 1).copied();
        Some(Self {
            p50: rank(50)?,
            p99: rank(99)?,
        })
    }
}

/// The deliveries and messages about one alert.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AlertDeliveries {
    /// The deliveries to webhooks, newest first.
    pub deliveries: Vec<DeliveryLine>,
    /// The messages, newest first.
    pub messages: Vec<MessageLine>,
}

impl AlertDeliveries {
    /// Returns whether an attempt is still due, so that the page follows it.
    pub(super) fn is_moving(&self) -> bool {
        let deliveries = self.deliveries.iter().map(|line| line.status);
        deliveries
            .chain(self.messages.iter().map(|message| message.status))
            .any(|status| status == DeliveryStatus::Pending)
    }
}

/// The contents of the list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeliveryList {
    /// The filters.
    pub query: DeliveryQuery,
    /// The webhooks to choose from.
    pub webhooks: Vec<WebhookChoice>,
    /// The deliveries, newest first.
    pub deliveries: Vec<DeliveryLine>,
    /// The messages, newest first.
    pub messages: Vec<MessageLine>,
    /// The address of the page with its filters, without the path of the service.
    pub address: String,
    /// The moment of "Resend all since…" as it was entered, and why it was refused; both empty without a refusal.
    pub since: (String, String),
}

impl DeliveryList {
    /// Returns whether an attempt is still due, so that the page follows it.
    fn is_moving(&self) -> bool {
        self.deliveries
            .iter()
            .any(|line| line.status == DeliveryStatus::Pending)
    }

    /// Returns whether a message is on its way.
    fn has_moving_message(&self) -> bool {
        self.messages
            .iter()
            .any(|message| message.status == DeliveryStatus::Pending)
    }

    fn quantiles(&self) -> Option<DelayQuantiles> {
        DelayQuantiles::of(&self.deliveries)
    }

    fn is_selected(&self, status: &DeliveryStatus) -> bool {
        self.query.status == Some(*status)
    }

    fn is_webhook(&self, webhook: &WebhookChoice) -> bool {
        self.query.webhook == webhook.id
    }
}

/// The list of deliveries.
#[derive(Template, Debug)]
#[template(path = "deliveries.html")]
pub struct DeliveriesPage {
    /// The frame.
    pub shell: Shell,
    /// The list.
    pub list: DeliveryList,
}

/// The contents of the list, for a page that has its frame already.
#[derive(Template, Debug)]
#[template(path = "deliveries_main.html")]
pub struct DeliveriesPart {
    /// The frame.
    pub shell: Shell,
    /// The list.
    pub list: DeliveryList,
}

/// An attempt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AttemptLine {
    /// When it began.
    pub at: Timestamp,
    /// Its outcome.
    pub outcome: String,
    /// Its duration in milliseconds.
    pub duration_ms: u64,
    /// The beginning of the answer.
    pub response: String,
}

/// One delivery with its attempts and its body.
#[derive(Template, Debug)]
#[template(path = "delivery.html")]
pub struct DeliveryPage {
    /// The frame.
    pub shell: Shell,
    /// The delivery.
    pub line: DeliveryLine,
    /// The attempts, newest first.
    pub attempts: Vec<AttemptLine>,
    /// The body of the request.
    pub body: String,
}

impl DeliveryPage {
    /// Formats a delivery.
    #[must_use]
    pub fn new(shell: Shell, detail: &DeliveryDetail, sentences: &AlertSentences) -> Self {
        let attempts = detail.delivery.attempts.iter().rev().map(|attempt| AttemptLine {
            at: attempt.at,
            outcome: outcome(attempt),
            duration_ms: attempt.duration_ms,
            response: attempt.response.clone().unwrap_or_default(),
        });
        // The body of a Slack message is JSON too; anything else is shown as it is.
        let body = serde_json::from_str(&detail.body)
            .and_then(|value: serde_json::Value| serde_json::to_string_pretty(&value))
            .unwrap_or_else(|_| detail.body.clone());
        Self {
            shell,
            line: DeliveryLine::of(&detail.webhook, &detail.delivery, sentences),
            attempts: attempts.collect(),
            body,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(delay_ms: Option<i64>) -> DeliveryLine {
        DeliveryLine {
            id: String::new(),
            webhook: WebhookChoice {
                id: String::new(),
                url: String::new(),
            },
            about: SentAbout {
                id: String::new(),
                sentence: None,
            },
            created_at: Timestamp::UNIX_EPOCH,
            status: DeliveryStatus::Delivered,
            attempts: 1,
            outcome: None,
            delay_ms,
            next_attempt_at: None,
        }
    }

    #[test]
    fn quantiles_are_those_of_the_nearest_rank() {
        let lines: Vec<_> = (1..=200).map(|delay| line(Some(delay))).chain([line(None)]).collect();
        assert_eq!(DelayQuantiles::of(&lines), Some(DelayQuantiles { p50: 100, p99: 198 }));
        assert_eq!(DelayQuantiles::of(&lines[..1]), Some(DelayQuantiles { p50: 1, p99: 1 }));
        assert_eq!(DelayQuantiles::of(&[line(None)]), None);
    }
}
