//! All sealed values, and the key check value that identifies their key.
//!
//! A new sealed column must be added to [`SealedLocation`] and to the statements of `values.rs`. The test
//! `every_sealed_column_is_known` fails until then.

mod check;
mod key_rotation;
mod values;

use uuid::Uuid;

use crate::model::{IdempotencyKey, MessageId, NotificationChannelId, WebhookId};

pub use key_rotation::{KeyRotation, KeyRotationError, ResealOutcome};

/// The location of a sealed value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SealedLocation {
    /// A webhook's signing secret.
    WebhookSecret(WebhookId),
    /// A secret replaced by a rotation.
    FormerWebhookSecret {
        /// Its webhook.
        webhook: WebhookId,
        /// The `seq` of its row.
        seq: i64,
    },
    /// The configuration of a notification channel.
    ChannelConfig(NotificationChannelId),
    /// The private key of push messages.
    WebPushKey(Uuid),
    /// The content of a message that waits to be sent.
    Message(MessageId),
    /// The content of a message in the outbox.
    OutboxMessage(MessageId),
    /// The stored response to an idempotent request.
    StoredResponse(IdempotencyKey),
}

/// A sealed value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SealedValue {
    /// Location.
    pub location: SealedLocation,
    /// Sealed bytes.
    pub sealed: Vec<u8>,
}
