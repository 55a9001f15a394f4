//! Update and deletion of webhooks.

use foundation::account::lock_active_account;
use foundation::request::Request;
use foundation::{Actor, ServiceError};
use jiff::Timestamp;
use serde_json::Value;
use store::model::{AccountId, DisabledReason, Webhook, WebhookId};
use store::{Abort, UnitOfWork};

use super::request_body::{UpdateWebhookRequest, check_url};
use super::{Webhooks, no_such_webhook};

impl Webhooks {
    /// Updates a webhook with a body `{url?, events?, is_active?}`. Disabling it drops its pending deliveries. Enabling
    /// it clears the failure state, whatever the reason was. The secret and the signature format cannot be changed
    /// here; naming them is an error.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`] and [`ServiceError::Invalid`] for an invalid body, [`ServiceError::NotFound`],
    /// [`ServiceError::Forbidden`] while the account is deactivated.
    pub async fn update_webhook(&self, actor: &Actor, id: WebhookId, body: &Value) -> Result<Webhook, ServiceError> {
        let webhooks = &self.delivery;
        let request = UpdateWebhookRequest::read_and(body, |body| {
            check_url(body, &webhooks.rules);
            let elsewhere = "cannot be changed here; use POST /webhooks/{id}/rotate-secret to create a new one";
            let never = "cannot be changed; create another webhook with it";
            for (name, error) in [("secret", elsewhere), ("signature", never)] {
                if body.value(name).is_some() {
                    body.add_error(name, error);
                }
            }
        })?;
        // Checked first: only the owner of the webhook may trigger a name lookup.
        self.webhook(actor, id).await?;
        let target = match request.url {
            Some(url) => Some(webhooks.check(actor.account, &url.0).await?),
            None => None,
        };
        let change = UpdateWebhook {
            account: actor.account,
            id,
            url: target.map(|target| target.url().to_owned()),
            events: request.events.map(|events| events.0),
            is_active: request.is_active,
            now: self.ports.clock.now(),
        };
        self.ports
            .transaction(change, |change, unit| Box::pin(change.run(unit)))
            .await
    }

    /// Deletes a webhook and drops its pending deliveries.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]
    pub async fn delete_webhook(&self, actor: &Actor, id: WebhookId) -> Result<(), ServiceError> {
        let inputs = (actor.account, id, self.ports.clock.now());
        let transaction = self.ports.transaction(inputs, |&(account, id, now), unit| {
            Box::pin(async move {
                if unit.delete_webhook(account, id, now).await? {
                    Ok(())
                } else {
                    Err(Abort::Refused(no_such_webhook()))
                }
            })
        });
        transaction.await
    }
}

struct UpdateWebhook {
    account: AccountId,
    id: WebhookId,
    url: Option<String>,
    events: Option<Vec<String>>,
    is_active: Option<bool>,
    now: Timestamp,
}

impl UpdateWebhook {
    fn apply(&self, webhook: &mut Webhook) {
        if let Some(url) = self.url.as_ref().filter(|url| **url != webhook.url) {
            webhook.url.clone_from(url);
            // The failures belong to the previous URL.
            webhook.failing_since = None;
        }
        if let Some(events) = &self.events {
            webhook.events.clone_from(events);
        }
        match self.is_active {
            Some(true) if !webhook.is_active => {
                webhook.is_active = true;
                webhook.failing_since = None;
                webhook.disabled = None;
            }
            Some(false) if webhook.is_active => {
                webhook.is_active = false;
                webhook.disabled = Some((self.now, DisabledReason::Owner));
            }
            _ => {}
        }
    }

    async fn run(&self, unit: &mut UnitOfWork) -> Result<Webhook, Abort<ServiceError>> {
        lock_active_account(unit, self.account).await?;
        let found = unit.lock_webhook(self.account, self.id).await?;
        let mut webhook = found.ok_or_else(no_such_webhook)?;
        self.apply(&mut webhook);
        unit.update_webhook(&webhook, self.now).await?;
        Ok(webhook)
    }
}
