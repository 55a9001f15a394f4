//! Checks a configuration on save, with a DNS lookup for the URL that a user chose.

use std::sync::Arc;

use foundation::{Actor, ServiceError};
use notify::address::LookupOwner;

use super::{NotificationChannelConfig, NotificationChannels};

impl NotificationChannels {
    /// Checks a configuration, and returns it as it is stored.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for the first invalid field.
    pub(super) async fn check(
        &self,
        actor: &Actor,
        config: NotificationChannelConfig,
    ) -> Result<NotificationChannelConfig, ServiceError> {
        match config {
            NotificationChannelConfig::Email(_) | NotificationChannelConfig::Sms => Ok(config),
            NotificationChannelConfig::Webhook(id) => {
                let found = self.ports.store.webhook(actor.account, id).await?;
                let unknown =
                    || ServiceError::field("config.webhook_id", "must be the id of a webhook of this account");
                found.map(|_| config).ok_or_else(unknown)
            }
            NotificationChannelConfig::Service(target) => {
                let (client, owner) = (Arc::clone(&self.client), LookupOwner::Account(actor.account.0));
                let check = async move { client.check(owner, target).await };
                let checked = self.ports.network.run(check).await;
                let checked = checked.map_err(|error| ServiceError::field(error.field, error.problem.to_string()));
                checked.map(NotificationChannelConfig::Service)
            }
        }
    }
}
