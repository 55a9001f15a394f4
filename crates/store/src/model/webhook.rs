//! Webhooks: endpoints to which an account's events are sent.

use jiff::Timestamp;
use uuid::Uuid;

use super::AccountId;

/// Webhook id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct WebhookId(pub Uuid);

alerts::named_enum! {
    /// The content that the service's own signature covers.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum SignatureForm {
        /// `<timestamp>.<body>`, written `sha256=<hex>`.
        #[default]
        Timestamped = "timestamped",
        /// The body alone, written as hexadecimal digits.
        Body = "body",
    }
}

alerts::named_enum! {
    /// The reason why a webhook was disabled.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum DisabledReason {
        /// The owner disabled it.
        Owner = "owner",
        /// The receiver responded that it is gone (410).
        Gone = "gone",
        /// It has only failed for days.
        Failing = "failing",
    }
}

/// A webhook's secrets, sealed with the service's key.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SealedSecrets {
    /// The current signing secret.
    pub current: Vec<u8>,
    /// Former secrets, newest first, including expired ones.
    pub former: Vec<FormerSecret>,
}

/// A secret replaced by a rotation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FormerSecret {
    /// Sealed secret.
    pub secret: Vec<u8>,
    /// Time until which deliveries are also signed with it.
    pub expires_at: Timestamp,
}

/// A webhook.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Webhook {
    /// Unique id.
    pub id: WebhookId,
    /// Owning account.
    pub account: AccountId,
    /// Target URL.
    pub url: String,
    /// Names of the subscribed events.
    pub events: Vec<String>,
    /// Whether events are sent.
    pub is_active: bool,
    /// Signature form.
    pub signature: SignatureForm,
    /// Current signing secret, sealed. Former secrets are read with deliveries only.
    pub secret: Vec<u8>,
    /// Creation time.
    pub created_at: Timestamp,
    /// Time of the first failure since the last success.
    pub failing_since: Option<Timestamp>,
    /// Time of the last successful delivery.
    pub last_success_at: Option<Timestamp>,
    /// Time and reason of being disabled, if it is.
    pub disabled: Option<(Timestamp, DisabledReason)>,
}
