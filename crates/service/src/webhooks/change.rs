//! Changing and deleting a webhook.

use jiff::Timestamp;
use serde_json::Value;
use store::model::{DisabledReason, Webhook, WebhookId};
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

use super::body::Body;
use super::no_such_webhook;
use crate::identity::account::awake;
use crate::webhooks::Webhooks;
use crate::{AccountId, Actor, ServiceError};

impl Webhooks {
    /// Changes a webhook by a body `{url?, events?, is_active?}`. One that is switched off gets nothing, and what still
    /// waits for it is given up; one that is switched on begins anew, whatever it was switched off for. The secret and the form
    /// of the signature cannot be changed so, and naming them is refused.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`] and [`ServiceError::Invalid`] for a body that will not do,
    /// [`ServiceError::NotFound`], [`ServiceError::Forbidden`] while the account is deactivated.
    pub async fn update_webhook(&self, actor: &Actor, id: WebhookId, body: &Value) -> Result<Webhook, ServiceError> {
        let webhooks = &self.delivery;
        let mut read = Body::of(body)?;
        let url = read.url(&webhooks.rules);
        let (events, is_active) = (read.events(), read.flag("is_active"));
        read.fixed(
            "secret",
            "cannot be changed here; POST /webhooks/{id}/rotate-secret makes a new one",
        );
        read.fixed("signature", "cannot be changed; create another webhook with it");
        read.finish()?;
        // Whoever has no such webhook has no business with what a name resolves to.
        self.webhook(actor, id).await?;
        let target = match url {
            Some(url) => Some(webhooks.check(actor.account, url).await?),
            None => None,
        };
        let change = Change {
            account: actor.account,
            id,
            url: target.map(|target| target.url().to_owned()),
            events,
            is_active,
            now: self.ports.clock.now(),
        };
        Ok(self.ports.store.write(change).await?)
    }

    /// Deletes a webhook. What still waits for it is given up.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]
    pub async fn delete_webhook(&self, actor: &Actor, id: WebhookId) -> Result<(), ServiceError> {
        let delete = Delete {
            account: actor.account,
            id,
            now: self.ports.clock.now(),
        };
        Ok(self.ports.store.write(delete).await?)
    }
}

struct Change {
    account: AccountId,
    id: WebhookId,
    url: Option<String>,
    events: Option<Vec<String>>,
    is_active: Option<bool>,
    now: Timestamp,
}

impl Change {
    fn apply(&self, webhook: &mut Webhook) {
        if let Some(url) = self.url.as_ref().filter(|url| **url != webhook.url) {
            webhook.url.clone_from(url);
            // What failed was the other address.
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
}

impl Transaction for Change {
    type Output = Webhook;
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<Webhook, Abort<ServiceError>>> {
        Box::pin(async move {
            awake(unit, self.account).await?;
            let found = unit.lock_webhook(self.account, self.id).await?;
            let mut webhook = found.ok_or_else(|| Abort::Refused(no_such_webhook()))?;
            self.apply(&mut webhook);
            unit.update_webhook(&webhook).await?;
            Ok(webhook)
        })
    }
}

struct Delete {
    account: AccountId,
    id: WebhookId,
    now: Timestamp,
}

impl Transaction for Delete {
    type Output = ();
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<(), Abort<ServiceError>>> {
        Box::pin(async move {
            if unit.delete_webhook(self.account, self.id, self.now).await? {
                Ok(())
            } else {
                Err(Abort::Refused(no_such_webhook()))
            }
        })
    }
}
