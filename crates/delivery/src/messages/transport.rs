//! Message transports: SMTP, Twilio, and the outbox.

use std::sync::Arc;

use clock::Clock;
use jiff::Timestamp;
use notify::dispatcher::Transport;
use notify::email::{Email, EmailTransport};
use notify::message_attempt::{MessageAttempt, MessageOutcome};
use notify::schedule::{AttemptReport, AttemptResult};
use notify::sms::{Sms, SmsTransport};
use serde::{Deserialize, Serialize};
use store::model::{MessageChannel, MessageId, StoredOutboxMessage};
use uuid::Uuid;

use foundation::Random;
use foundation::vault::{SecretLocation, Vault};

/// A rendered message, ready to be sent.
#[derive(Debug)]
pub(super) enum OutgoingMessage {
    Email(Box<Email>),
    Sms(Sms),
}

/// Message content as stored in the outbox.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct RenderedMessage {
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
pub(super) struct SendResult {
    pub(super) attempt: MessageAttempt,
    /// The stored message, for the outbox transport.
    pub(super) kept: Option<StoredOutboxMessage>,
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
        Self { attempt, kept: None }
    }
}

/// Transport of one channel.
pub(super) enum MessageTransport {
    Smtp(EmailTransport),
    Twilio(SmsTransport),
    Outbox(OutboxTransport),
}

/// Stores messages instead of sending them.
pub(super) struct OutboxTransport {
    pub(super) vault: Arc<Vault>,
    pub(super) random: Arc<Random>,
    pub(super) time: Arc<dyn Clock>,
}

impl OutboxTransport {
    fn store(&self, id: Uuid, message: &OutgoingMessage) -> SendResult {
        let now = self.time.now();
        let (channel, recipient, rendered) = match message {
            OutgoingMessage::Email(mail) => {
                let rendered = RenderedMessage {
                    subject: Some(mail.subject.clone()),
                    text: mail.text.clone(),
                    html: Some(mail.html.clone()),
                };
                (MessageChannel::Email, &mail.to, rendered)
            }
            OutgoingMessage::Sms(sms) => {
                let rendered = RenderedMessage {
                    text: sms.text.clone(),
                    ..RenderedMessage::default()
                };
                (MessageChannel::Sms, &sms.to, rendered)
            }
        };
        let Ok(text) = serde_json::to_string(&rendered) else {
            return SendResult::internal_error(now);
        };
        let id = MessageId(id);
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
                channel,
                recipient: recipient.clone(),
                content: self.vault.seal(&self.random, outbox_location(id), &text),
                created_at: now,
            }),
        }
    }
}

impl Transport for MessageTransport {
    type Job = OutgoingMessage;
    type Report = SendResult;

    async fn attempt(&self, id: Uuid, job: &OutgoingMessage) -> SendResult {
        match (self, job) {
            (Self::Smtp(transport), OutgoingMessage::Email(mail)) => transport.attempt(id, mail).await.into(),
            (Self::Twilio(transport), OutgoingMessage::Sms(sms)) => transport.attempt(id, sms).await.into(),
            (Self::Outbox(outbox), message) => outbox.store(id, message),
            // Each channel renders only its own type of message.
            (Self::Smtp(_), OutgoingMessage::Sms(_)) | (Self::Twilio(_), OutgoingMessage::Email(_)) => {
                SendResult::internal_error(Timestamp::UNIX_EPOCH)
            }
        }
    }
}
