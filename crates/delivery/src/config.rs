//! Configuration of deliveries.

use crate::messages::MessagesConfig;
use crate::webhooks::WebhooksConfig;

/// Configuration of deliveries.
#[derive(Clone, Debug)]
pub struct DeliveryConfig {
    /// Public URL of this service, for links in messages.
    pub public_url: String,
    /// Messages.
    pub messages: MessagesConfig,
    /// Webhooks.
    pub webhooks: WebhooksConfig,
}
