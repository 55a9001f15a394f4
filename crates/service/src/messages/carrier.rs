//! Who carries a message: a mail server, Twilio, or nobody, and it is kept.

use std::sync::Arc;

use jiff::Timestamp;
use notify::dispatcher::Transport;
use notify::email::{Email, EmailTransport};
use notify::message_attempt::{MessageAttempt, MessageOutcome};
use notify::schedule::{AttemptReport, AttemptResult};
use notify::sms::{Sms, SmsTransport};
use notify::time::Time;
use serde::{Deserialize, Serialize};
use store::model::{MessageChannel, MessageId, StoredOutboxMessage};
use uuid::Uuid;

use crate::Chance;
use crate::vault::{Place, Vault};

/// A message in its words, ready to be carried.
#[derive(Debug)]
pub(super) enum Parcel {
    Mail(Box<Email>),
    Text(Sms),
}

/// What the outbox keeps of a message.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Words {
    pub(super) subject: Option<String>,
    pub(super) text: String,
    pub(super) html: Option<String>,
}

/// Where what the outbox keeps of a message lies.
pub(crate) const fn kept_place(message: MessageId) -> Place {
    Place {
        table: "outbox",
        column: "content",
        row: message.0,
    }
}

/// What came of carrying a message.
#[derive(Clone, Debug)]
pub(super) struct Carried {
    pub(super) attempt: MessageAttempt,
    /// What is kept of it, where that is how it is carried.
    pub(super) kept: Option<StoredOutboxMessage>,
}

impl AttemptReport for Carried {
    fn internal_error(at: Timestamp) -> Self {
        MessageAttempt::internal_error(at).into()
    }

    fn result(&self) -> AttemptResult {
        self.attempt.result()
    }
}

impl From<MessageAttempt> for Carried {
    fn from(attempt: MessageAttempt) -> Self {
        Self { attempt, kept: None }
    }
}

/// Carries the messages of one channel.
pub(super) enum Carrier {
    Smtp(EmailTransport),
    Twilio(SmsTransport),
    Outbox(Keeper),
}

/// Keeps messages instead of sending them.
pub(super) struct Keeper {
    pub(super) vault: Arc<Vault>,
    pub(super) chance: Arc<Chance>,
    pub(super) time: Arc<dyn Time>,
}

impl Keeper {
    fn keep(&self, id: Uuid, parcel: &Parcel) -> Carried {
        let now = self.time.now();
        let (channel, recipient, words) = match parcel {
            Parcel::Mail(mail) => {
                let words = Words {
                    subject: Some(mail.subject.clone()),
                    text: mail.text.clone(),
                    html: Some(mail.html.clone()),
                };
                (MessageChannel::Email, &mail.to, words)
            }
            Parcel::Text(sms) => {
                let words = Words {
                    text: sms.text.clone(),
                    ..Words::default()
                };
                (MessageChannel::Sms, &sms.to, words)
            }
        };
        let Ok(text) = serde_json::to_string(&words) else {
            return Carried::internal_error(now);
        };
        let id = MessageId(id);
        Carried {
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
                content: self.vault.seal(&self.chance, kept_place(id), &text),
                created_at: now,
            }),
        }
    }
}

impl Transport for Carrier {
    type Job = Parcel;
    type Report = Carried;

    async fn attempt(&self, id: Uuid, job: &Parcel) -> Carried {
        match (self, job) {
            (Self::Smtp(transport), Parcel::Mail(mail)) => transport.attempt(id, mail).await.into(),
            (Self::Twilio(transport), Parcel::Text(sms)) => transport.attempt(id, sms).await.into(),
            (Self::Outbox(keeper), parcel) => keeper.keep(id, parcel),
            // Each channel writes its own parcels, so there are no others.
            (Self::Smtp(_), Parcel::Text(_)) | (Self::Twilio(_), Parcel::Mail(_)) => {
                Carried::internal_error(Timestamp::UNIX_EPOCH)
            }
        }
    }
}
