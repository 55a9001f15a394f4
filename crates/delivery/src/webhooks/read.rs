//! Reading of webhooks.

use foundation::{Actor, ServiceError};
use store::model::{Webhook, WebhookId};

use super::{Webhooks, no_such_webhook};

impl Webhooks {
    /// Returns the actor's webhooks, oldest first.
    pub async fn webhooks(&self, actor: &Actor) -> Result<Vec<Webhook>, ServiceError> {
        Ok(self.ports.store.webhooks(actor.account).await?)
    }

    /// Returns a webhook of the actor.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]
    pub async fn webhook(&self, actor: &Actor, id: WebhookId) -> Result<Webhook, ServiceError> {
        let found = self.ports.store.webhook(actor.account, id).await?;
        found.ok_or_else(no_such_webhook)
    }
}
