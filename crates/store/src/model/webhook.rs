//! Webhooks: where an account wants its events sent.

use jiff::Timestamp;
use uuid::Uuid;

use super::AccountId;

/// Which webhook.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct WebhookId(pub Uuid);

/// What the service's own signature is made over.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SignatureForm {
    /// `<timestamp>.<body>`, written `sha256=<hex>`.
    #[default]
    Timestamped,
    /// The body alone, written as hexadecimal digits.
    Body,
}

impl SignatureForm {
    /// Its name in its column.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Timestamped => "timestamped",
            Self::Body => "body",
        }
    }

    /// The form of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Timestamped, Self::Body]
            .into_iter()
            .find(|form| form.name() == name)
    }
}

/// Why a webhook was switched off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DisabledReason {
    /// Its owner did it.
    Owner,
    /// It answered that it is gone (410).
    Gone,
    /// It only failed for days.
    Failing,
}

impl DisabledReason {
    /// Its name in its column.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Gone => "gone",
            Self::Failing => "failing",
        }
    }

    /// The reason of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Owner, Self::Gone, Self::Failing]
            .into_iter()
            .find(|reason| reason.name() == name)
    }
}

/// The secrets of a webhook. They are sealed: what is in them is known to whoever has the key.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SealedSecrets {
    /// What deliveries are signed with.
    pub current: Vec<u8>,
    /// Those that it has replaced, the newest first; expired ones, too.
    pub former: Vec<FormerSecret>,
}

/// A secret that a rotation has replaced.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FormerSecret {
    /// The secret, sealed.
    pub secret: Vec<u8>,
    /// Until when deliveries are signed with it, too.
    pub expires_at: Timestamp,
}

/// Where an account wants its events sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Webhook {
    /// Which one.
    pub id: WebhookId,
    /// Whose.
    pub account: AccountId,
    /// Where to.
    pub url: String,
    /// The names of the events that are sent.
    pub events: Vec<String>,
    /// Whether anything is sent.
    pub is_active: bool,
    /// How deliveries are signed.
    pub signature: SignatureForm,
    /// The secret that signs them, sealed. Former secrets are read with deliveries only.
    pub secret: Vec<u8>,
    /// When it was made.
    pub created_at: Timestamp,
    /// Its first failure since its last success.
    pub failing_since: Option<Timestamp>,
    /// When it last took a delivery.
    pub last_success_at: Option<Timestamp>,
    /// When and why it was switched off, if it is.
    pub disabled: Option<(Timestamp, DisabledReason)>,
}
