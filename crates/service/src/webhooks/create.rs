//! Making a webhook.

use std::fmt;

use notify::signature::SigningSecret;
use serde_json::Value;
use store::model::{DisabledReason, Webhook, WebhookId};
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

use super::MOST;
use super::body::Body;
use crate::identity::account::awake;
use crate::webhooks::Webhooks;
use crate::{Actor, ServiceError};

/// A new webhook, with its secret: the only time that is seen.
#[derive(Clone)]
pub struct CreatedWebhook {
    /// The webhook.
    pub webhook: Webhook,
    /// What its deliveries are signed with.
    pub secret: String,
}

impl fmt::Debug for CreatedWebhook {
    /// Everything but the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CreatedWebhook")
            .field("webhook", &self.webhook)
            .finish_non_exhaustive()
    }
}

impl Webhooks {
    /// Makes a webhook of a body `{url, events, secret?, signature?, is_active?}`. Without a secret one is made.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`] and [`ServiceError::Invalid`] for a body that will not do,
    /// [`ServiceError::Forbidden`] for one webhook more than an account may have.
    pub async fn create_webhook(&self, actor: &Actor, body: &Value) -> Result<CreatedWebhook, ServiceError> {
        let (ports, webhooks) = (&self.ports, &self.delivery);
        let mut read = Body::of(body)?;
        let url = read.url(&webhooks.rules);
        let events = read.events();
        let (secret, signature) = (read.secret(), read.signature());
        let is_active = read.flag("is_active").unwrap_or(true);
        if url.is_none() {
            read.missing("url");
        }
        if events.is_none() {
            read.missing("events");
        }
        read.finish()?;
        let target = webhooks.check(actor.account, url.unwrap_or_default()).await?;
        let secret = secret.unwrap_or_else(|| SigningSecret::from_random(ports.chance.bytes()));
        let id = WebhookId(ports.chance.uuid());
        let now = ports.clock.now();
        let webhook = Webhook {
            id,
            account: actor.account,
            url: target.url().to_owned(),
            events: events.unwrap_or_default(),
            is_active,
            signature: signature.unwrap_or_default(),
            secret: webhooks.seal(&ports.chance, id, &secret),
            created_at: now,
            failing_since: None,
            last_success_at: None,
            disabled: (!is_active).then_some((now, DisabledReason::Owner)),
        };
        ports.store.write(Insert(webhook.clone())).await?;
        Ok(CreatedWebhook {
            webhook,
            secret: secret.expose().to_owned(),
        })
    }
}

struct Insert(Webhook);

impl Transaction for Insert {
    type Output = ();
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<(), Abort<ServiceError>>> {
        Box::pin(async move {
            awake(unit, self.0.account).await?;
            if unit.count_webhooks(self.0.account).await? >= MOST {
                return Err(Abort::Refused(ServiceError::Forbidden {
                    reason: "limit",
                    required: None,
                    message: format!("an account has at most {MOST} webhooks; delete one of them first"),
                }));
            }
            unit.insert_webhook(&self.0).await?;
            if !self.0.is_active {
                // Says since when, and by whom it was switched off.
                unit.update_webhook(&self.0).await?;
            }
            Ok(())
        })
    }
}
