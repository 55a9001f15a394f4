//! Test delivery: sends a sample event at once and returns the receiver's response.
//!
//! For addresses that the policy rejects, nothing is revealed: neither the resolved addresses nor a response.

use foundation::account::{load_account, require_active};
use foundation::request::Request;
use foundation::{Actor, ServiceError};
use notify::client::{Signing, WebhookAttempt, WebhookJob, WebhookOutcome};
use notify::message::{self, slack};
use notify::signature::SigningSecrets;
use serde_json::Value;

use super::request_body::{TestWebhookRequest, check_url, signing_form};
use super::{EVENT, WebhookId, Webhooks};

/// Result of a test delivery.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WebhookTestResult {
    /// The attempt.
    pub attempt: WebhookAttempt,
}

impl Webhooks {
    /// Sends a test event with a body `{url, secret?, signature?}` and returns the result. Slack gets its own format,
    /// unsigned.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`] and [`ServiceError::Invalid`] for an invalid body, and for a URL whose address is
    /// not allowed; [`ServiceError::Forbidden`] while the account is deactivated.
    pub async fn test_webhook(&self, actor: &Actor, body: &Value) -> Result<WebhookTestResult, ServiceError> {
        let webhooks = &self.delivery;
        let request = TestWebhookRequest::read_and(body, |body| {
            if !check_url(body, &webhooks.rules).is_some_and(|target| target.is_slack()) {
                body.require("secret");
            }
        })?;
        require_active(&load_account(&self.ports.store, actor).await?)?;
        let target = webhooks.check(actor.account, &request.url.0).await?;
        let signing = match request.secret.filter(|_| !target.is_slack()) {
            None => Signing::Unsigned,
            Some(secret) => Signing::Signed {
                secrets: SigningSecrets::from(secret),
                format: request.signature.unwrap_or_default(),
            },
        };
        self.send_test(actor, target.url(), signing).await
    }

    /// Sends a test event to a webhook of the actor, signed as its deliveries are.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]; [`ServiceError::Invalid`] if its address is not allowed any more; [`ServiceError::Forbidden`]
    /// while the account is deactivated.
    pub async fn test_own_webhook(&self, actor: &Actor, id: WebhookId) -> Result<WebhookTestResult, ServiceError> {
        require_active(&load_account(&self.ports.store, actor).await?)?;
        let webhook = self.webhook(actor, id).await?;
        let target = self.delivery.check(actor.account, &webhook.url).await?;
        let signing = if target.is_slack() {
            Signing::Unsigned
        } else {
            let secret = self
                .delivery
                .open(id, &webhook.secret)
                .map_err(ServiceError::internal)?;
            Signing::Signed {
                secrets: SigningSecrets::from(secret),
                format: signing_form(webhook.signature),
            }
        };
        self.send_test(actor, target.url(), signing).await
    }

    /// Slack's own format is not signed.
    async fn send_test(&self, actor: &Actor, url: &str, signing: Signing) -> Result<WebhookTestResult, ServiceError> {
        let (ports, webhooks) = (&self.ports, &self.delivery);
        let now = webhooks.network.time.now();
        let id = ports.random.uuid();
        let data = message::test_event_data(ports.random.uuid(), now);
        let body = match signing {
            Signing::Unsigned => slack::body(EVENT, &data),
            Signing::Signed { .. } => message::webhook_body(id, EVENT, now, &data),
        };
        let job = WebhookJob {
            account: actor.account.0,
            url: url.to_owned(),
            event: EVENT,
            generated_at: now,
            body,
            signing,
        };
        let transport = webhooks.transport.clone();
        let deliver = async move { transport.deliver(id, &job).await };
        let attempt = webhooks.network.run(deliver).await;
        if attempt.outcome == WebhookOutcome::AddressRefused {
            return Err(ServiceError::field(
                "url",
                "must have a host that resolves to public addresses only",
            ));
        }
        Ok(WebhookTestResult { attempt })
    }
}
