//! Webhooks: HTTP endpoints that receive an account's events.
//!
//! * Management: [`create`], [`change`], [`rotate`]. The URL policy of [`notify::address`] is checked on save and on
//!   each connection. Secrets are sealed in the [`vault`](foundation::vault) and shown once.
//! * [`deliveries`]: list and resend deliveries.
//! * [`test_send`]: send a test event and return the response.
//! * The dispatcher ([`notify::dispatcher`]) delivers; [`webhook_queue`] is its queue in the database.
//!
//! An account has at most [`MAX_WEBHOOKS_PER_ACCOUNT`] webhooks, counted under the account's lock.

mod change;
mod config;
mod create;
mod deliveries;
mod read;
mod request_body;
mod rotate;
mod test_send;
pub(crate) mod webhook_queue;

use std::sync::Arc;

use notify::address::{NameLookups, UrlPolicy};
use notify::client::{TlsSetupError, WebhookClient, WebhookClientConfig, WebhookTransport};
use notify::signature::SigningSecret;

use crate::DeliveryConfig;
use foundation::vault::{SecretLocation, Vault, VaultError};
use foundation::{Network, Ports, Random, ServiceError};

pub use config::WebhooksConfig;
pub use create::CreatedWebhook;
pub use deliveries::DeliveryDetail;
pub use request_body::{CreateWebhookRequest, EventName, RecoverDeliveriesRequest};
pub use request_body::{TestWebhookRequest, UpdateWebhookRequest};
pub use rotate::RotatedSecret;
pub use store::model::{Attempt, Delivery, DeliveryId, DeliveryStatus, Webhook, WebhookId};
pub use test_send::WebhookTestResult;

/// Maximum number of webhooks per account.
pub const MAX_WEBHOOKS_PER_ACCOUNT: u64 = 5;

/// The only event type.
pub const EVENT: &str = notify::message::ALERT_TRIGGERED;

/// Names of all outcomes of an attempt.
pub const ATTEMPT_OUTCOMES: &[&str] = &[
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

/// Shared dependencies for creating, testing and delivering webhooks.
#[derive(Debug)]
pub struct DeliveryContext {
    rules: UrlPolicy,
    lookups: NameLookups,
    pub(crate) network: Network,
    /// The client with the address rules.
    pub client: Arc<WebhookClient>,
    transport: WebhookTransport,
    vault: Arc<Vault>,
    /// The URL of this service, for links in payloads.
    public_url: String,
}

/// Webhooks of accounts and the deliveries to them.
#[derive(Clone)]
pub struct Webhooks {
    pub(crate) ports: Ports,
    pub(crate) delivery: Arc<DeliveryContext>,
}

impl DeliveryContext {
    pub(crate) fn new(config: &DeliveryConfig, network: &Network, vault: Arc<Vault>) -> Result<Self, TlsSetupError> {
        let settings = &config.webhooks;
        let rules = UrlPolicy::new(settings.allow_private.clone());
        let lookups = NameLookups::new(Arc::clone(&network.resolver));
        let client = WebhookClient::new(WebhookClientConfig {
            rules: rules.clone(),
            lookups: lookups.clone(),
            dialer: Arc::clone(&network.dialer),
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
            public_url: config.public_url.clone(),
        })
    }

    fn seal(&self, random: &Random, webhook: WebhookId, secret: &SigningSecret) -> Vec<u8> {
        self.vault.seal(random, secret_location(webhook), secret.expose())
    }

    fn open(&self, webhook: WebhookId, sealed: &[u8]) -> Result<SigningSecret, SecretError> {
        let text = self.vault.open(secret_location(webhook), sealed)?;
        SigningSecret::from_user(&text).map_err(|_| SecretError::Empty)
    }
}

/// Returns the sealing location of a webhook's secrets. All secrets of a webhook share it, so rotation does not reseal
/// the previous one.
pub const fn secret_location(webhook: WebhookId) -> SecretLocation {
    SecretLocation {
        table: "webhooks",
        column: "secret",
        row: webhook.0,
    }
}

/// Reason why a secret cannot be read.
#[derive(Debug, thiserror::Error)]
enum SecretError {
    #[error(transparent)]
    Vault(#[from] VaultError),
    #[error("a webhook has no secret")]
    Empty,
}

/// Returns the error for webhooks that the actor does not have, whether they exist or not.
const fn no_such_webhook() -> ServiceError {
    ServiceError::NotFound("webhook")
}
