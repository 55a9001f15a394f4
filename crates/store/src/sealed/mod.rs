//! Every value that the service has sealed, and the key check value that says with which key.
//!
//! A new sealed column is added to [`SealedPlace`] and to the statements of `values.rs`; the test
//! `every_sealed_column_is_known` fails until it is.

mod check;
mod rekey;
mod values;

use crate::model::{MessageId, RepeatableRequest, WebhookId};

pub use rekey::{Rekeying, RekeyingError, Resealed};

/// Where a sealed value lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SealedPlace {
    /// The secret that a webhook signs with.
    WebhookSecret(WebhookId),
    /// A secret that a rotation has replaced.
    FormerWebhookSecret {
        /// The webhook that signs with it.
        webhook: WebhookId,
        /// The secret's row.
        seq: i64,
    },
    /// The text of a message that waits to be sent.
    Message(MessageId),
    /// The text of a message that was kept instead of sent.
    OutboxMessage(MessageId),
    /// The answer that is kept for a request that may be repeated.
    RepeatedAnswer(RepeatableRequest),
}

/// A sealed value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SealedValue {
    /// Where it lies.
    pub place: SealedPlace,
    /// The sealed bytes.
    pub sealed: Vec<u8>,
}
