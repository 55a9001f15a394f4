//! Deliveries: events on their way to webhooks.

use alerts::AlertId;
use jiff::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::{AccountId, EventId, PayloadTemplate, SealedSecrets, SignatureForm, WebhookId};

/// Delivery id. It is the same for every attempt.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DeliveryId(pub Uuid);

impl DeliveryId {
    /// Returns the id of the delivery of an event to a webhook: SHA-256 of both ids, cut to a UUID of version 4. It
    /// looks random because both ids have random bits, and it is the same whenever it is derived again.
    #[must_use]
    pub fn for_event(event: EventId, webhook: WebhookId) -> Self {
        let mut hash = Sha256::new();
        hash.update(event.0.as_bytes());
        hash.update(webhook.0.as_bytes());
        let digest: [u8; 32] = hash.finalize().into();
        let (bytes, _) = digest.split_at(16);
        Self(uuid::Builder::from_random_bytes(bytes.try_into().unwrap_or_default()).into_uuid())
    }
}

alerts::named_enum! {
    /// The status of a delivery.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum DeliveryStatus {
        /// Waits for an attempt.
        Pending = "pending",
        /// Accepted by the receiver.
        Delivered = "delivered",
        /// Given up.
        Failed = "failed",
    }
}

/// One delivery attempt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attempt {
    /// Start time.
    pub at: Timestamp,
    /// Outcome, as one word.
    pub outcome: String,
    /// HTTP status of the response, if any.
    pub http_status: Option<u16>,
    /// Duration in milliseconds.
    pub duration_ms: u64,
    /// The beginning of the response body.
    pub response: Option<String>,
}

/// A delivery as its owner sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Delivery {
    /// Unique id.
    pub id: DeliveryId,
    /// The alert that fired.
    pub alert: AlertId,
    /// Status.
    pub status: DeliveryStatus,
    /// Attempts, oldest first.
    pub attempts: Vec<Attempt>,
    /// Creation time of the event.
    pub created_at: Timestamp,
    /// Time of the next attempt. During an attempt: latest time of the next one.
    pub next_attempt_at: Option<Timestamp>,
}

/// A claimed delivery with everything that an attempt needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClaimedDelivery {
    /// Position among all rows.
    pub seq: i64,
    /// Unique id.
    pub id: DeliveryId,
    /// Lease of the claim.
    pub lease: i64,
    /// The webhook's `seq`.
    pub endpoint: i64,
    /// The webhook.
    pub webhook: WebhookId,
    /// Owning account.
    pub account: AccountId,
    /// Target URL.
    pub url: String,
    /// Signature form.
    pub signature: SignatureForm,
    /// Signing secrets.
    pub secrets: SealedSecrets,
    /// Number of attempts since it was queued.
    pub tries: u32,
    /// Creation time of the event.
    pub created_at: Timestamp,
    /// When the quote was made that made the alert fire, or else when the event was created.
    pub caused_at: Timestamp,
    /// The event's `data` as JSON text.
    pub data: String,
    /// The template of the body.
    pub payload: Option<PayloadTemplate>,
}

/// The recorded facts about a settled delivery.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DeliveryResult {
    /// The webhook's `seq`.
    pub endpoint: i64,
    /// The URL that was tried, if any. The result does not count for a webhook whose URL has changed since.
    pub url: Option<String>,
    /// The attempt, if there was one.
    pub attempt: Option<Attempt>,
}

/// When a failing webhook is disabled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DisablePolicy {
    /// Duration of failures without any success.
    pub failing_for: SignedDuration,
}

/// A webhook that was disabled because of delivery results.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DisabledWebhook {
    /// Webhook id.
    pub webhook: WebhookId,
    /// Owning account.
    pub account: AccountId,
    /// Target URL.
    pub url: String,
    /// Reason.
    pub reason: super::DisabledReason,
}
