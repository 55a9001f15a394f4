//! Deliveries: an event on its way to a webhook.

use alerts::AlertId;
use jiff::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::{AccountId, EventId, SealedSecrets, SignatureForm, WebhookId};

/// Which delivery. It is the same for every attempt.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DeliveryId(pub Uuid);

impl DeliveryId {
    /// The id of the delivery of an event to a webhook: SHA-256 of both their ids, cut to a UUID of version 4. Both ids
    /// are random, so nobody can tell it from one that was drawn; and whatever is done again comes to the same id.
    #[must_use]
    pub fn of(event: EventId, webhook: WebhookId) -> Self {
        let mut hash = Sha256::new();
        hash.update(event.0.as_bytes());
        hash.update(webhook.0.as_bytes());
        let digest: [u8; 32] = hash.finalize().into();
        let (bytes, _) = digest.split_at(16);
        Self(uuid::Builder::from_random_bytes(bytes.try_into().unwrap_or_default()).into_uuid())
    }
}

/// How far a delivery has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeliveryStatus {
    /// It waits for an attempt.
    Pending,
    /// It was taken.
    Delivered,
    /// It was given up.
    Failed,
}

impl DeliveryStatus {
    /// Its name in its column and in answers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
        }
    }

    /// The status of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Pending, Self::Delivered, Self::Failed]
            .into_iter()
            .find(|status| status.name() == name)
    }
}

/// One try to deliver.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attempt {
    /// When it began.
    pub at: Timestamp,
    /// What came of it, in a word.
    pub outcome: String,
    /// What the receiver answered, if it did.
    pub http_status: Option<u16>,
    /// How long it took.
    pub duration_ms: u64,
    /// The beginning of the answer's body.
    pub response: Option<String>,
}

/// A delivery as its owner sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Delivery {
    /// Which one.
    pub id: DeliveryId,
    /// The alert that fired.
    pub alert: AlertId,
    /// How far it has come.
    pub status: DeliveryStatus,
    /// What was tried, oldest first.
    pub attempts: Vec<Attempt>,
    /// When the event was made.
    pub created_at: Timestamp,
    /// When it is tried next; while it is being tried, when it is tried again at the latest.
    pub next_attempt_at: Option<Timestamp>,
}

/// A webhook with deliveries that wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lane {
    /// The webhook's place among all.
    pub webhook: i64,
    /// When the first of them is due.
    pub first_due: Timestamp,
}

/// What to claim of a lane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClaimOrder {
    /// The lanes.
    pub lanes: Vec<i64>,
    /// At most so many deliveries of each.
    pub most_of_each: u32,
    /// At most so many in all.
    pub most: u32,
    /// What was due by then.
    pub now: Timestamp,
    /// They are the claimer's until then.
    pub until: Timestamp,
    /// What shows that they are: a number that nobody else uses.
    pub lease: i64,
}

/// A delivery that was claimed, with all that it takes to try it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClaimedDelivery {
    /// Its place among all.
    pub seq: i64,
    /// Which one.
    pub id: DeliveryId,
    /// What shows that it is the claimer's.
    pub lease: i64,
    /// The webhook's place among all.
    pub lane: i64,
    /// The webhook.
    pub webhook: WebhookId,
    /// Whose.
    pub account: AccountId,
    /// Where to.
    pub url: String,
    /// How it is signed.
    pub signature: SignatureForm,
    /// What with.
    pub secrets: SealedSecrets,
    /// How often it was tried since it was queued.
    pub tries: u32,
    /// When the event was made.
    pub created_at: Timestamp,
    /// The event's `data`, as JSON text.
    pub data: String,
}

/// What comes after an attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It was taken.
    Delivered,
    /// It is to be tried again.
    Retry {
        /// When.
        at: Timestamp,
    },
    /// It is given up.
    Failed,
    /// It is given up, and so is its webhook, which says that it is gone.
    Gone,
    /// It was not tried after all, and goes back as it was.
    Released,
    /// It cannot be tried at present.
    PutOff {
        /// Until when.
        until: Timestamp,
    },
}

/// What became of a claimed delivery.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settlement {
    /// The delivery's place among all.
    pub seq: i64,
    /// What shows that it is the settler's.
    pub lease: i64,
    /// The webhook's place among all.
    pub lane: i64,
    /// Where it went, if it was tried. It says nothing of a webhook that leads elsewhere by now.
    pub url: Option<String>,
    /// What was tried, if it was.
    pub attempt: Option<Attempt>,
    /// What comes next.
    pub verdict: Verdict,
}

/// When a webhook that only fails is switched off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Patience {
    /// After so long without a success.
    pub lasts: SignedDuration,
}

/// A webhook that was switched off because of what came of its deliveries.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SwitchedOff {
    /// Which one.
    pub webhook: WebhookId,
    /// Whose.
    pub account: AccountId,
    /// Where to.
    pub url: String,
    /// Why.
    pub reason: super::DisabledReason,
}
