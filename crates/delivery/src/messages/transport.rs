//! The transport of messages: the provider of the channel, or the outbox.

use std::sync::Arc;

use foundation::Ports;
use foundation::vault::SecretLocation;
use jiff::Timestamp;
use notify::dispatcher::Transport;
use notify::message_attempt::{MessageAttempt, MessageOutcome};
use notify::schedule::{AttemptReport, AttemptResult};
use serde::{Deserialize, Serialize};
use store::model::{ChannelResult, MessageId, NotificationChannel, StoredOutboxMessage};
use uuid::Uuid;

use super::channel::{MessageJob, OutgoingMessage};
use crate::notification_channels::attempt_result;

/// Message content as stored in the outbox.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct RenderedMessage {
    pub(super) subject: Option<String>,
    pub(super) text: String,
    pub(super) html: Option<String>,
}

/// Returns the sealing location of an outbox message.
pub const fn outbox_location(message: MessageId) -> SecretLocation {
    SecretLocation {
        table: "outbox",
        column: "content",
        row: message.0,
    }
}

/// Result of an attempt.
#[derive(Clone, Debug)]
pub(crate) struct SendResult {
    pub(super) attempt: MessageAttempt,
    /// The stored message, for the outbox transport.
    pub(super) kept: Option<StoredOutboxMessage>,
    /// The notification channel that the message went to.
    pub(super) channel: Option<Arc<NotificationChannel>>,
}

impl SendResult {
    /// Returns the result for the notification channel.
    pub(super) fn channel_result(&self) -> Option<(Arc<NotificationChannel>, ChannelResult)> {
        Some((Arc::clone(self.channel.as_ref()?), attempt_result(&self.attempt)))
    }
}

impl AttemptReport for SendResult {
    fn internal_error(at: Timestamp) -> Self {
        MessageAttempt::internal_error(at).into()
    }

    fn result(&self) -> AttemptResult {
        self.attempt.result()
    }
}

impl From<MessageAttempt> for SendResult {
    fn from(attempt: MessageAttempt) -> Self {
        Self {
            attempt,
            kept: None,
            channel: None,
        }
    }
}

/// The transport of a channel.
pub(crate) struct MessageTransport<M: OutgoingMessage> {
    /// The provider. `None`: messages are stored in the outbox.
    pub(super) provider: Option<M::Provider>,
    pub(super) ports: Ports,
}

impl<M: OutgoingMessage> MessageTransport<M> {
    fn store(&self, id: MessageId, message: &M) -> SendResult {
        let now = self.ports.network.time.now();
        let Ok(text) = serde_json::to_string(&message.content()) else {
            return SendResult::internal_error(now);
        };
        SendResult {
            attempt: MessageAttempt {
                at: now,
                duration_ms: 0,
                outcome: MessageOutcome::Delivered,
                detail: None,
                provider_id: None,
            },
            kept: Some(StoredOutboxMessage {
                id,
                channel: M::CHANNEL,
                recipient: message.recipient().to_owned(),
                content: self.ports.vault.seal(&self.ports.random, outbox_location(id), &text),
                created_at: now,
            }),
            channel: None,
        }
    }
}

impl<M: OutgoingMessage> Transport for MessageTransport<M> {
    type Job = MessageJob<M>;
    type Report = SendResult;

    async fn attempt(&self, id: Uuid, job: &MessageJob<M>) -> SendResult {
        let result = match &self.provider {
            Some(provider) => provider.attempt(id, &job.message).await.into(),
            None => self.store(MessageId(id), &job.message),
        };
        SendResult {
            channel: job.channel.clone(),
            ..result
        }
    }
}
