//! Webhooks: where accounts have their events sent.
//!
//! * Making and changing them: [`create`], [`change`], [`rotate`]. A URL is judged by the rules of
//!   [`notify::address`], on save and again on each dial. Secrets are sealed in the [`vault`](crate::vault), and shown
//!   once, to whoever made them.
//! * What became of deliveries, and sending them once more: [`deliveries`].
//! * A test that is sent at once and tells what the receiver answered: [`test_send`].
//! * Delivering itself is the dispatcher's work ([`notify::dispatcher`]); [`outbox`] is what it claims from and
//!   settles to.
//!
//! At most [`MOST`] an account has, which is counted under the account's lock.

mod body;
mod change;
mod create;
mod deliveries;
mod network;
mod outbox;
mod read;
mod rotate;
mod test_send;
mod time;

use std::sync::Arc;

use jiff::SignedDuration;
use notify::address::{Cidr, NameLookups, UrlPolicy};
use notify::client::{TlsSetupError, WebhookClient, WebhookClientConfig, WebhookTransport};
use notify::schedule::RetrySchedule;
use notify::signature::{HeaderStyle, SigningSecret};

use crate::vault::{Place, Vault, VaultError};
use crate::{Chance, Ports, ServiceError};

pub use create::CreatedWebhook;
pub(crate) use network::DatabaseOutbox;
pub use network::Network;
pub use outbox::Dispatching;
pub use rotate::RotatedSecret;
pub use store::model::{Attempt, Delivery, DeliveryId, DeliveryStatus, Webhook, WebhookId};
pub use test_send::TestAnswer;
pub use time::ByClock;

/// So many webhooks an account has at most.
pub const MOST: u64 = 5;

/// The only event that can be asked for.
pub const EVENT: &str = notify::message::ALERT_TRIGGERED;

/// The names of all that can come of an attempt.
pub const OUTCOMES: &[&str] = &[
    "delivered",
    "http_error",
    "redirected",
    "gone",
    "timed_out",
    "name_not_found",
    "connection_failed",
    "connection_lost",
    "tls_certificate_expired",
    "tls_certificate_wrong_name",
    "tls_certificate_unknown_issuer",
    "tls_certificate_bad",
    "tls_failed",
    "bad_answer",
    "address_refused",
    "internal_error",
];

/// What can be set about webhooks.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Ranges of addresses that are open beside the public's, also to http.
    pub allow_private: Vec<Cidr>,
    /// After how long a delivery is tried again.
    pub retry_delays: RetrySchedule,
    /// How long an attempt may take, from looking the name up to the end of the answer.
    pub timeout: SignedDuration,
    /// The headers of a delivery.
    pub headers: HeaderStyle,
    /// Authorities that are trusted beside those of the web, as certificates in DER.
    pub own_roots: Vec<Vec<u8>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            allow_private: Vec::new(),
            retry_delays: RetrySchedule::default(),
            timeout: SignedDuration::from_secs(5),
            headers: HeaderStyle::default(),
            own_roots: Vec::new(),
        }
    }
}

/// Everything that creating, testing and delivering webhooks share.
#[derive(Debug)]
pub(crate) struct DeliveryContext {
    rules: UrlPolicy,
    lookups: NameLookups,
    pub(crate) network: Network,
    pub(crate) client: Arc<WebhookClient>,
    transport: WebhookTransport,
    vault: Arc<Vault>,
}

/// Webhooks of accounts and the deliveries to them.
#[derive(Clone)]
pub struct Webhooks {
    pub(crate) ports: Ports,
    pub(crate) delivery: Arc<DeliveryContext>,
}

impl DeliveryContext {
    pub(crate) fn new(settings: &Settings, network: &Network, vault: Arc<Vault>) -> Result<Self, TlsSetupError> {
        let rules = UrlPolicy::new(settings.allow_private.clone());
        let lookups = NameLookups::new(Arc::clone(&network.resolver));
        let client = WebhookClient::new(WebhookClientConfig {
            rules: rules.clone(),
            lookups: lookups.clone(),
            time: Arc::clone(&network.time),
            timeout: settings.timeout.unsigned_abs(),
            extra_roots: settings.own_roots.iter().map(|root| root.clone().into()).collect(),
        })?;
        let client = Arc::new(client);
        Ok(Self {
            rules,
            lookups,
            network: network.clone(),
            transport: WebhookTransport::new(Arc::clone(&client), settings.headers.clone()),
            client,
            vault,
        })
    }

    fn seal(&self, chance: &Chance, webhook: WebhookId, secret: &SigningSecret) -> Vec<u8> {
        self.vault.seal(chance, place(webhook), secret.expose())
    }

    fn open(&self, webhook: WebhookId, sealed: &[u8]) -> Result<SigningSecret, Unreadable> {
        let text = self.vault.open(place(webhook), sealed)?;
        SigningSecret::from_user(&text).map_err(|_| Unreadable::Empty)
    }
}

/// All of a webhook's secrets are sealed for one place: after a rotation the former one stays as it was sealed.
pub(crate) const fn place(webhook: WebhookId) -> Place {
    Place {
        table: "webhooks",
        column: "secret",
        row: webhook.0,
    }
}

/// Why a secret cannot be read.
#[derive(Debug, thiserror::Error)]
enum Unreadable {
    #[error(transparent)]
    Vault(#[from] VaultError),
    #[error("a webhook has no secret")]
    Empty,
}

/// Webhooks that the actor does not have, be they other people's or nobody's.
const fn no_such_webhook() -> ServiceError {
    ServiceError::NotFound("webhook")
}

/// What is sent once more needs a webhook that takes it.
fn must_be_active(webhook: &Webhook) -> Result<(), ServiceError> {
    if webhook.is_active {
        Ok(())
    } else {
        let fault = "is false, so nothing is sent; set it to true with PATCH first";
        Err(ServiceError::field("is_active", fault))
    }
}
