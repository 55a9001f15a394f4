//! The subscriptions of browsers: an account has at most one channel for each, so that a firing arrives once.
//!
//! A browser that subscribes again keeps its channel, and so its place in routes. Configurations are sealed, so channels are compared
//! after they were opened, under the lock of the account.

use foundation::{Actor, ServiceError};
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use store::model::{AccountId, NotificationChannel, NotificationChannelType};
use store::{Abort, UnitOfWork};

use super::throttle::ThrottleChange;
use super::{ChannelWithLink, NotificationChannelConfig, NotificationChannels};

/// A request that subscribes a browser.
#[derive(Clone)]
pub(super) struct PushSubscription {
    pub(super) channels: NotificationChannels,
    pub(super) config: NotificationChannelConfig,
    /// `None` keeps the name of a channel that exists.
    pub(super) name: Option<String>,
    pub(super) is_enabled: bool,
    pub(super) templates: Map<String, Value>,
    pub(super) throttle: ThrottleChange,
    pub(super) now: Timestamp,
}

impl PushSubscription {
    /// Updates the channel that has the subscription already. Returns `None` if the account has none.
    pub(super) async fn renew(
        &self,
        unit: &mut UnitOfWork,
        account: AccountId,
    ) -> Result<Option<NotificationChannel>, Abort<ServiceError>> {
        let Some(mut channel) = self.channels.same_subscription(unit, account, &self.config).await? else {
            return Ok(None);
        };
        if let Some(name) = &self.name {
            channel.name.clone_from(name);
        }
        channel.is_enabled = self.is_enabled;
        let templates = channel.templates.take().unwrap_or_default();
        channel.templates = templates.merged(&self.templates).none_if_empty();
        let former = channel.throttle;
        channel.throttle = self.throttle.apply(former);
        if self.channels.open(&channel)?.as_ref() != Some(&self.config) {
            let ports = &self.channels.ports;
            channel.config = Some(self.config.seal(&ports.vault, &ports.random, channel.id));
        }
        unit.update_notification_channel(&channel).await?;
        if channel.throttle != former {
            unit.release_held_messages(&channel, self.now).await?;
        }
        Ok(Some(channel))
    }
}

impl NotificationChannels {
    /// Returns the channel of an account with the same subscription, and locks it. `None` for configurations of other types.
    pub(super) async fn same_subscription(
        &self,
        unit: &mut UnitOfWork,
        account: AccountId,
        config: &NotificationChannelConfig,
    ) -> Result<Option<NotificationChannel>, Abort<ServiceError>> {
        let Some(endpoint) = config.push_endpoint() else {
            return Ok(None);
        };
        let web_push = NotificationChannelType::WebPush;
        for channel in unit.lock_notification_channels_of_type(account, web_push).await? {
            let found = self.open(&channel)?;
            if found.as_ref().and_then(NotificationChannelConfig::push_endpoint) == Some(endpoint) {
                return Ok(Some(channel));
            }
        }
        Ok(None)
    }

    /// Creates a channel from a body like that of [`create`](Self::create), for a browser whose push service has replaced its
    /// subscription. The channel of the former endpoint gets the new subscription, if it exists.
    ///
    /// # Errors
    /// Those of [`create`](Self::create).
    pub async fn replace_subscription(
        &self,
        actor: &Actor,
        former_endpoint: &str,
        body: &Value,
    ) -> Result<ChannelWithLink, ServiceError> {
        for channel in self.ports.store.notification_channels(actor.account).await? {
            let config = self.open(&channel)?;
            if config.as_ref().and_then(NotificationChannelConfig::push_endpoint) == Some(former_endpoint) {
                return self.update(actor, channel.id, &json!({"config": body["config"]})).await;
            }
        }
        self.create(actor, body).await
    }
}
