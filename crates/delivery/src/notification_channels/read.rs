//! Reading of notification channels.

use foundation::{Actor, ServiceError};
use store::model::{NotificationChannel, NotificationChannelId};

use super::{ConfigError, MaskedConfig, NotificationChannelConfig, NotificationChannels, no_such_channel};

/// A notification channel with its configuration, without secrets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChannelDetail {
    /// The channel.
    pub channel: NotificationChannel,
    /// The configuration; empty if it was lost with its key.
    pub config: MaskedConfig,
}

impl NotificationChannels {
    /// Returns the actor's notification channels, oldest first.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] if a configuration cannot be opened.
    pub async fn list(&self, actor: &Actor) -> Result<Vec<ChannelDetail>, ServiceError> {
        let channels = self.ports.store.notification_channels(actor.account).await?;
        channels.into_iter().map(|channel| self.detail(channel)).collect()
    }

    /// Returns a notification channel of the actor.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]
    pub async fn get(&self, actor: &Actor, id: NotificationChannelId) -> Result<ChannelDetail, ServiceError> {
        self.detail(self.find(actor, id).await?)
    }

    pub(super) async fn find(
        &self,
        actor: &Actor,
        id: NotificationChannelId,
    ) -> Result<NotificationChannel, ServiceError> {
        let found = self.ports.store.notification_channel(actor.account, id).await?;
        found.ok_or_else(no_such_channel)
    }

    /// Opens the configuration of a channel; `None` if it was lost with its key.
    pub(super) fn open(
        &self,
        channel: &NotificationChannel,
    ) -> Result<Option<NotificationChannelConfig>, ServiceError> {
        match NotificationChannelConfig::open(&self.ports.vault, channel) {
            Ok(config) => Ok(Some(config)),
            Err(ConfigError::Incomplete) => Ok(None),
            Err(error) => Err(ServiceError::internal(error)),
        }
    }

    pub(super) fn detail(&self, channel: NotificationChannel) -> Result<ChannelDetail, ServiceError> {
        let config = self.open(&channel)?.map(|config| config.masked()).unwrap_or_default();
        Ok(ChannelDetail { channel, config })
    }
}
