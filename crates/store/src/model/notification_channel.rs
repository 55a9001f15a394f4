//! Notification channels: the places to which an account's firings are sent.

use alerts::routing::MessageTemplates;
use jiff::Timestamp;
use uuid::Uuid;

use super::{AccountId, ChannelThrottle, MessageChannel, WebhookId};

/// Notification channel id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NotificationChannelId(pub Uuid);

alerts::named_enum! {
    /// The type of a notification channel.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum NotificationChannelType {
        /// An email address.
        Email = "email",
        /// Text messages to the account's phone number.
        Sms = "sms",
        /// One of the account's webhooks.
        Webhook = "webhook",
        /// Slack.
        Slack = "slack",
        /// Discord.
        Discord = "discord",
        /// Telegram.
        Telegram = "telegram",
        /// ntfy.
        Ntfy = "ntfy",
        /// Pushover.
        Pushover = "pushover",
        /// Microsoft Teams.
        Teams = "teams",
        /// An Apprise API server.
        Apprise = "apprise",
        /// A browser, by push messages.
        WebPush = "web_push",
    }
}

impl NotificationChannelType {
    /// Returns how a message reaches a channel of this type; `None` for a webhook, which gets deliveries.
    #[must_use]
    pub const fn message_channel(self) -> Option<MessageChannel> {
        match self {
            Self::Email => Some(MessageChannel::Email),
            Self::Sms => Some(MessageChannel::Sms),
            Self::Webhook => None,
            Self::Slack
            | Self::Discord
            | Self::Telegram
            | Self::Ntfy
            | Self::Pushover
            | Self::Teams
            | Self::Apprise
            | Self::WebPush => Some(MessageChannel::Service),
        }
    }
}

/// A notification channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotificationChannel {
    /// The database's number of the channel; 0 before it is inserted.
    pub seq: i64,
    /// Unique id.
    pub id: NotificationChannelId,
    /// Owning account.
    pub account: AccountId,
    /// Type.
    pub channel_type: NotificationChannelType,
    /// Name, chosen by the owner.
    pub name: String,
    /// The configuration as JSON, sealed. `None` if it was lost with its key.
    pub config: Option<Vec<u8>>,
    /// The webhook of a channel of type `webhook`. It may have been deleted.
    pub webhook: Option<WebhookId>,
    /// Templates of its messages. `None`: they have the default texts.
    pub templates: Option<MessageTemplates>,
    /// How many messages it gets.
    pub throttle: ChannelThrottle,
    /// Creation time.
    pub created_at: Timestamp,
    /// Time since which the channel is known to reach its owner.
    pub verified_at: Option<Timestamp>,
    /// Time of the last accepted message.
    pub last_success_at: Option<Timestamp>,
    /// The error of the last message, if it was not accepted.
    pub last_error: Option<String>,
    /// Whether firings are sent.
    pub is_enabled: bool,
    /// The code that links a Telegram chat.
    pub link: Option<ChannelLink>,
}

/// A code that links a chat to a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChannelLink {
    /// Hash of the code.
    pub hash: [u8; 32],
    /// Time from which the code is invalid.
    pub expires_at: Timestamp,
}

/// The result of a message to a notification channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ChannelResult {
    /// The service accepted the message at this time.
    Accepted(Timestamp),
    /// The message was not accepted, for this reason.
    Failed(String),
    /// The destination no longer exists since this time, so the channel is deleted.
    Gone(Timestamp),
}
