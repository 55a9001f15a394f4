//! Configuration of deliveries.

use crate::messages::MessagesConfig;
use crate::notification_channels::ChannelServicesConfig;
use crate::webhooks::WebhooksConfig;

/// Configuration of deliveries.
#[derive(Clone, Debug)]
pub struct DeliveryConfig {
    /// Public URL of this service, for links in messages.
    pub public_url: String,
    /// Messages.
    pub messages: MessagesConfig,
    /// Services that send messages to channels.
    pub channels: ChannelServicesConfig,
    /// Webhooks.
    pub webhooks: WebhooksConfig,
}
