//! Creation of webhooks.

use std::fmt;

use foundation::account::lock_active_account;
use foundation::request::Request;
use foundation::{Actor, ServiceError};
use notify::signature::SigningSecret;
use serde_json::Value;
use store::Abort;
use store::model::{DisabledReason, Webhook, WebhookId};

use super::request_body::{CreateWebhookRequest, check_url, stored_form};
use super::{MAX_WEBHOOKS_PER_ACCOUNT, Webhooks};

/// A new webhook with its secret, which is available only now.
#[derive(Clone)]
pub struct CreatedWebhook {
    /// The webhook.
    pub webhook: Webhook,
    /// Signing secret.
    pub secret: String,
}

impl fmt::Debug for CreatedWebhook {
    /// Formats all fields except the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CreatedWebhook")
            .field("webhook", &self.webhook)
            .finish_non_exhaustive()
    }
}

impl Webhooks {
    /// Creates a webhook from a body `{url, events, secret?, signature?, is_active?}`. Without `secret` it generates
    /// one.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`] and [`ServiceError::Invalid`] for an invalid body, [`ServiceError::Forbidden`] if
    /// the account has the maximum number of webhooks.
    pub async fn create_webhook(&self, actor: &Actor, body: &Value) -> Result<CreatedWebhook, ServiceError> {
        let (ports, webhooks) = (&self.ports, &self.delivery);
        let request = CreateWebhookRequest::read_and(body, |body| _ = check_url(body, &webhooks.rules))?;
        let target = webhooks.check(actor.account, &request.url.0).await?;
        let is_active = request.is_active.0;
        let secret = request
            .secret
            .unwrap_or_else(|| SigningSecret::from_random(ports.random.bytes()));
        let id = WebhookId(ports.random.uuid());
        let now = ports.clock.now();
        let webhook = Webhook {
            id,
            account: actor.account,
            url: target.url().to_owned(),
            events: request.events.0,
            is_active,
            signature: request.signature.map(stored_form).unwrap_or_default(),
            secret: webhooks.seal(&ports.random, id, &secret),
            created_at: now,
            failing_since: None,
            last_success_at: None,
            disabled: (!is_active).then_some((now, DisabledReason::Owner)),
        };
        let transaction = ports.transaction(webhook.clone(), |webhook, unit| {
            Box::pin(async move {
                lock_active_account(unit, webhook.account).await?;
                if unit.count_webhooks(webhook.account).await? >= MAX_WEBHOOKS_PER_ACCOUNT {
                    return Err(Abort::Refused(ServiceError::Forbidden {
                        reason: "limit",
                        required: None,
                        message: format!(
                            "an account has at most {MAX_WEBHOOKS_PER_ACCOUNT} webhooks; delete one of them first"
                        ),
                    }));
                }
                unit.insert_webhook(webhook).await?;
                if !webhook.is_active {
                    // Stores when and by whom the webhook was disabled.
                    unit.update_webhook(webhook, webhook.created_at).await?;
                }
                Ok(())
            })
        });
        transaction.await?;
        Ok(CreatedWebhook {
            webhook,
            secret: secret.expose().to_owned(),
        })
    }
}
