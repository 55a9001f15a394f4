//! Messages about alerts, and the alert that a message or a delivery is about.

use alerts::AlertId;
use delivery::messages::{MessageChannel, SentMessage};
use delivery::webhooks::DeliveryStatus;
use jiff::Timestamp;
use service::alerts::AlertSentences;

use super::{mark, status_text, style};
use crate::texts::text;
use crate::wording::in_words;

/// The alert that something was sent about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SentAbout {
    /// Its id.
    pub id: String,
    /// The alert as a sentence; `None` if it is deleted.
    pub sentence: Option<String>,
}

impl SentAbout {
    /// Returns the alert with this id.
    #[must_use]
    pub fn of(id: AlertId, sentences: &AlertSentences) -> Self {
        Self {
            id: id.to_string(),
            sentence: sentences.get(&id).cloned(),
        }
    }
}

/// A message in the list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MessageLine {
    /// The id.
    pub id: String,
    /// The alert that it is about; `None` if it is about several, or about none.
    pub about: Option<SentAbout>,
    /// Whether it can be sent again.
    pub can_be_resent: bool,
    /// The channel: the name of a notification channel, or by what the account's own address is reached.
    pub channel: String,
    /// The kind of message.
    pub kind: String,
    /// The recipient.
    pub recipient: String,
    /// The status.
    pub status: DeliveryStatus,
    /// The outcome of the last attempt, or why there was none.
    pub outcome: Option<String>,
    /// When it was created.
    pub created_at: Timestamp,
    /// The time from its creation to its end in milliseconds.
    pub delay_ms: Option<i64>,
}

fn channel_text(sent: &SentMessage) -> String {
    match (&sent.routed_to, sent.channel) {
        (Some(route), _) => route.name.clone(),
        (None, MessageChannel::Email) => text("channel-email"),
        (None, MessageChannel::Sms) => text("channel-sms"),
        (None, MessageChannel::Service) => text("channel-deleted"),
    }
}

impl MessageLine {
    /// Formats a message.
    #[must_use]
    pub fn of(sent: &SentMessage, sentences: &AlertSentences) -> Self {
        let delay = sent
            .finished_at
            .map(|at| at.duration_since(sent.created_at).as_millis());
        Self {
            id: sent.id.0.to_string(),
            about: sent.alert.map(|alert| SentAbout::of(alert, sentences)),
            can_be_resent: sent.can_be_resent(),
            channel: channel_text(sent),
            kind: in_words(&sent.kind),
            // A service has no address that its owner knows.
            recipient: sent
                .recipient
                .clone()
                .filter(|_| sent.channel != MessageChannel::Service)
                .unwrap_or_default(),
            status: match sent.status.as_str() {
                "sent" => DeliveryStatus::Delivered,
                "failed" => DeliveryStatus::Failed,
                _ => DeliveryStatus::Pending,
            },
            outcome: sent.outcome.as_ref().map(|outcome| outcome.replace('_', " ")),
            created_at: sent.created_at,
            delay_ms: delay.map(|delay| i64::try_from(delay).unwrap_or(i64::MAX)),
        }
    }

    /// Returns whether the provider has accepted it.
    pub(crate) fn is_sent(&self) -> bool {
        self.status == DeliveryStatus::Delivered
    }

    pub(crate) const fn status_text(&self) -> &'static str {
        match self.status {
            DeliveryStatus::Delivered => "message-sent",
            DeliveryStatus::Pending | DeliveryStatus::Failed => status_text(&self.status),
        }
    }

    pub(crate) const fn mark(&self) -> &'static str {
        mark(self.status)
    }

    pub(crate) const fn style(&self) -> &'static str {
        style(self.status)
    }
}
