//! Notification channels: further places to which an account's firings are sent.
//!
//! * Management: [`create`], [`change`], [`read`]. The secrets of a configuration are sealed in the [`vault`](foundation::vault) and
//!   never shown again. URLs are checked on save and on each connection, as those of webhooks.
//! * [`config`]: the configuration of each type, and how it is sealed.
//! * [`test_send`]: sends a test message and returns the service's response.
//! * [`email_verification`]: an email address is verified by a link that is sent to it.
//! * [`throttle`]: how many messages a channel gets.
//! * [`telegram_updates`]: reads what is sent to Telegram bots. [`telegram_link`], [`telegram_chats`]: a chat is linked by a code.
//!   [`telegram_buttons`]: the buttons of messages act in linked chats.
//! * [`push_subscription`], [`web_push_key`]: one channel for each browser, and the key that signs push messages.
//!
//! * [`route`]: the channels of an account's alerts that have no route of their own.
//!
//! All other types are verified by the first accepted message. An account has at most [`MAX_CHANNELS_PER_ACCOUNT`] channels, counted
//! under the account's lock.

mod change;
mod check;
pub mod config;
mod config_members;
mod create;
mod email_verification;
mod push_subscription;
mod read;
mod request_body;
mod route;
mod telegram_buttons;
mod telegram_chats;
mod telegram_link;
mod telegram_updates;
mod test_send;
mod throttle;
mod web_push_key;

use std::sync::Arc;
use std::time::Duration;

use foundation::{Ports, ServiceError};
use jiff::SignedDuration;
use notify::channels::pushover::PushoverSettings;
use notify::channels::telegram::TelegramSettings;
use notify::channels::web_push::VapidKey;
use notify::channels::{ChannelClient, ChannelClientConfig, ChannelSetupError, WebPushSettings};
use notify::schedule::RetrySchedule;
use tokio::sync::Notify;

use crate::DeliveryConfig;
use crate::messages::{ChannelTests, MessageWriter};
use crate::webhooks::{DeliveryContext, Webhooks};

pub use config::{ConfigError, MaskedConfig, MaskedSubscription, NotificationChannelConfig, config_location};
pub use create::ChannelWithLink;
pub use read::ChannelDetail;
pub use request_body::{CreateNotificationChannelRequest, UpdateNotificationChannelRequest};
pub use store::model::{ChannelThrottle, Digest, NotificationChannel, NotificationChannelId, NotificationChannelType};
pub use telegram_buttons::{ButtonActions, ButtonPress};
pub use telegram_link::LinkCode;
pub(crate) use test_send::attempt_result;
pub use test_send::{ChannelTestResult, attempt_error};
pub use web_push_key::{WebPushKeyError, stored_web_push_key, web_push_key_location};

/// Maximum number of notification channels per account.
pub const MAX_CHANNELS_PER_ACCOUNT: u64 = 50;

/// The operator's settings of services that send messages to channels.
#[derive(Clone, Debug)]
pub struct ChannelServicesConfig {
    /// Telegram.
    pub telegram: TelegramSettings,
    /// Pushover.
    pub pushover: PushoverSettings,
    /// The key of push messages. `None`: that of the database, which the start of the service sets here.
    pub web_push_key: Option<VapidKey>,
    /// Delays between retries of a message.
    pub retry_delays: RetrySchedule,
    /// Number of messages to one channel within a minute that are sent separately; more of them become one.
    pub burst_limit: u32,
}

impl Default for ChannelServicesConfig {
    fn default() -> Self {
        Self {
            telegram: TelegramSettings::default(),
            pushover: PushoverSettings::default(),
            web_push_key: None,
            retry_delays: RetrySchedule::new([10, 60, 300, 900].map(SignedDuration::from_secs).to_vec()),
            burst_limit: 10,
        }
    }
}

/// Notification channels of accounts.
#[derive(Clone)]
pub struct NotificationChannels {
    pub(crate) ports: Ports,
    /// The client of chat and push services. The sender of firings uses the same one.
    pub client: Arc<ChannelClient>,
    pub(crate) webhooks: Webhooks,
    pub(crate) channel_tests: ChannelTests,
    pub(crate) writer: MessageWriter,
    /// Timeout of an attempt.
    pub(crate) timeout: Duration,
    /// Notified when a channel begins to wait for its Telegram chat.
    pub(crate) link_requested: Arc<Notify>,
}

/// Creates the client of chat and push services. URLs that users choose follow the rules of webhooks.
pub(crate) fn client(
    ports: &Ports,
    settings: &DeliveryConfig,
    context: &DeliveryContext,
) -> Result<ChannelClient, ChannelSetupError> {
    let (webhooks, random) = (&settings.webhooks, Arc::clone(&ports.random));
    ChannelClient::new(ChannelClientConfig {
        webhooks: Arc::clone(&context.client),
        telegram: settings.channels.telegram.clone(),
        pushover: settings.channels.pushover.clone(),
        web_push: WebPushSettings {
            key: settings.channels.web_push_key.clone(),
            subject: settings.public_url.clone(),
            random: Box::new(move || random.bytes()),
        },
        extra_roots: webhooks.own_roots.iter().map(|root| root.clone().into()).collect(),
        timeout: webhooks.timeout.unsigned_abs(),
    })
}

/// Returns the error for channels that the actor does not have, whether they exist or not.
const fn no_such_channel() -> ServiceError {
    ServiceError::NotFound("notification channel")
}
