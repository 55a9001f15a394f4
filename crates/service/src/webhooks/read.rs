//! Reading webhooks.

use store::model::{Webhook, WebhookId};

use super::no_such_webhook;
use crate::{Actor, Service, ServiceError};

impl Service {
    /// The actor's webhooks, oldest first.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] only.
    pub async fn webhooks(&self, actor: &Actor) -> Result<Vec<Webhook>, ServiceError> {
        Ok(self.0.ports.store.webhooks(actor.account).await?)
    }

    /// A webhook of the actor.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]
    pub async fn webhook(&self, actor: &Actor, id: WebhookId) -> Result<Webhook, ServiceError> {
        let found = self.0.ports.store.webhook(actor.account, id).await?;
        found.ok_or_else(no_such_webhook)
    }
}
