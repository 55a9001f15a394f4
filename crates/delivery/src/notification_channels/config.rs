//! The configuration of a channel, and how it is sealed.

use foundation::Random;
use foundation::vault::{SecretLocation, Vault, VaultError};
use notify::channels::apprise::AppriseConfig;
use notify::channels::discord::DiscordConfig;
use notify::channels::ntfy::NtfyConfig;
use notify::channels::pushover::PushoverConfig;
use notify::channels::slack::SlackConfig;
use notify::channels::teams::TeamsConfig;
use notify::channels::telegram::TelegramConfig;
use notify::channels::web_push::WebPushConfig;
use notify::channels::{ChannelSecret, ChannelTarget as Target};
use serde_json::{Map, Value};
use store::model::{NotificationChannel, NotificationChannelId, NotificationChannelType, WebhookId};
use uuid::Uuid;

/// The text that answers have in place of a secret.
pub const MASK: &str = "***";

/// The member with the linked chat of a Telegram channel. Requests cannot set it.
const CHAT_ID: &str = "chat_id";

/// The configuration of a notification channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NotificationChannelConfig {
    /// An email address, in its normal form.
    Email(String),
    /// The phone number of the account.
    Sms,
    /// A webhook of the account.
    Webhook(WebhookId),
    /// A chat or push service.
    Service(Target),
}

/// Reason why a configuration cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The configuration was sealed with another key.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The configuration does not match this version.
    #[error("invalid configuration of a notification channel: {0}")]
    Unreadable(#[from] serde_json::Error),
    /// The configuration was lost with its key, or a member is missing.
    #[error("the configuration of a notification channel is incomplete")]
    Incomplete,
}

/// A configuration as answers show it: secrets are [`MASK`].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MaskedConfig {
    /// Email address.
    pub address: Option<String>,
    /// Webhook.
    pub webhook: Option<Uuid>,
    /// URL: secret, except that of ntfy.
    pub url: Option<String>,
    /// ntfy's topic.
    pub topic: Option<String>,
    /// User key of Pushover.
    pub user: Option<&'static str>,
    /// Access token.
    pub token: Option<&'static str>,
    /// Token of the user's Telegram bot.
    pub bot_token: Option<&'static str>,
    /// Subscription of a browser.
    pub subscription: Option<MaskedSubscription>,
}

/// The subscription of a browser as answers show it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MaskedSubscription {
    /// Address at the push service.
    pub endpoint: &'static str,
    /// Public key.
    pub p256dh: &'static str,
    /// Authentication secret.
    pub auth: &'static str,
}

/// Returns the sealing location of a channel's configuration.
pub const fn config_location(channel: NotificationChannelId) -> SecretLocation {
    SecretLocation {
        table: "notification_channels",
        column: "config",
        row: channel.0,
    }
}

impl NotificationChannelConfig {
    /// Opens the configuration of a channel.
    ///
    /// # Errors
    /// [`ConfigError`]
    pub fn open(vault: &Vault, channel: &NotificationChannel) -> Result<Self, ConfigError> {
        let sealed = channel.config.as_deref().ok_or(ConfigError::Incomplete)?;
        let text = vault.open(config_location(channel.id), sealed)?;
        let members: Map<String, Value> = serde_json::from_str(&text)?;
        if channel.channel_type == NotificationChannelType::Webhook {
            return channel.webhook.map(Self::Webhook).ok_or(ConfigError::Incomplete);
        }
        Self::from_members(channel.channel_type, &members).ok_or(ConfigError::Incomplete)
    }

    /// Seals the configuration of a channel. The webhook of a channel is not part of it: [`NotificationChannel::webhook`] names it.
    #[must_use]
    pub fn seal(&self, vault: &Vault, random: &Random, channel: NotificationChannelId) -> Vec<u8> {
        let text = Value::from(self.members()).to_string();
        vault.seal(random, config_location(channel), &text)
    }

    /// Returns the webhook of a channel of type `webhook`.
    #[must_use]
    pub const fn webhook(&self) -> Option<WebhookId> {
        match self {
            Self::Webhook(id) => Some(*id),
            _ => None,
        }
    }

    /// Returns whether the channel is a Telegram channel whose chat is not linked yet.
    #[must_use]
    pub const fn awaits_chat(&self) -> bool {
        matches!(
            self,
            Self::Service(Target::Telegram(TelegramConfig { chat_id: None, .. }))
        )
    }

    /// Returns the address of a browser's subscription at its push service.
    #[must_use]
    pub fn push_endpoint(&self) -> Option<&str> {
        match self {
            Self::Service(Target::WebPush(config)) => Some(config.endpoint.expose()),
            _ => None,
        }
    }

    /// Returns the configuration as answers show it.
    #[must_use]
    pub fn masked(&self) -> MaskedConfig {
        let empty = MaskedConfig::default();
        let secret_url = MaskedConfig {
            url: Some(MASK.to_owned()),
            ..MaskedConfig::default()
        };
        let mask = |secret: &Option<ChannelSecret>| secret.as_ref().map(|_| MASK);
        match self {
            Self::Sms => empty,
            Self::Email(address) => MaskedConfig {
                address: Some(address.clone()),
                ..empty
            },
            Self::Webhook(id) => MaskedConfig {
                webhook: Some(id.0),
                ..empty
            },
            Self::Service(Target::Slack(_) | Target::Discord(_) | Target::Teams(_) | Target::Apprise(_)) => secret_url,
            Self::Service(Target::Ntfy(config)) => MaskedConfig {
                url: Some(config.url.clone()),
                topic: Some(config.topic.clone()),
                token: mask(&config.token),
                ..empty
            },
            Self::Service(Target::Telegram(config)) => MaskedConfig {
                bot_token: mask(&config.bot_token),
                ..empty
            },
            Self::Service(Target::Pushover(config)) => MaskedConfig {
                user: Some(MASK),
                token: mask(&config.token),
                ..empty
            },
            Self::Service(Target::WebPush(_)) => MaskedConfig {
                subscription: Some(MaskedSubscription {
                    endpoint: MASK,
                    p256dh: MASK,
                    auth: MASK,
                }),
                ..empty
            },
        }
    }

    /// Returns the members of the stored configuration.
    pub(super) fn members(&self) -> Map<String, Value> {
        let secret = |secret: &ChannelSecret| Value::from(secret.expose());
        let optional =
            |name: &'static str, value: &Option<ChannelSecret>| value.as_ref().map(|value| (name, secret(value)));
        let members: Vec<Option<(&str, Value)>> = match self {
            Self::Sms | Self::Webhook(_) => Vec::new(),
            Self::Email(address) => vec![Some(("address", address.as_str().into()))],
            Self::Service(Target::Slack(config)) => vec![Some(("url", secret(&config.url)))],
            Self::Service(Target::Discord(config)) => vec![Some(("url", secret(&config.url)))],
            Self::Service(Target::Teams(config)) => vec![Some(("url", secret(&config.url)))],
            Self::Service(Target::Apprise(config)) => vec![Some(("url", secret(&config.url)))],
            Self::Service(Target::Ntfy(config)) => vec![
                Some(("url", config.url.as_str().into())),
                Some(("topic", config.topic.as_str().into())),
                optional("token", &config.token),
            ],
            Self::Service(Target::Telegram(config)) => vec![
                optional("bot_token", &config.bot_token),
                config.chat_id.map(|chat| (CHAT_ID, chat.into())),
            ],
            Self::Service(Target::Pushover(config)) => {
                vec![Some(("user", secret(&config.user))), optional("token", &config.token)]
            }
            Self::Service(Target::WebPush(config)) => vec![
                Some(("endpoint", secret(&config.endpoint))),
                Some(("p256dh", secret(&config.p256dh))),
                Some(("auth", secret(&config.auth))),
            ],
        };
        let members = members.into_iter().flatten();
        members.map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// Returns the configuration with these members; `None` if one is missing.
    pub(super) fn from_members(channel_type: NotificationChannelType, members: &Map<String, Value>) -> Option<Self> {
        let text = |name: &str| members.get(name).and_then(Value::as_str);
        let secret = |name: &str| text(name).map(ChannelSecret::new);
        let url = || secret("url");
        Some(match channel_type {
            NotificationChannelType::Email => Self::Email(text("address")?.to_owned()),
            NotificationChannelType::Sms => Self::Sms,
            NotificationChannelType::Webhook => Self::Webhook(WebhookId(Uuid::try_parse(text("webhook_id")?).ok()?)),
            NotificationChannelType::Slack => Self::Service(Target::Slack(SlackConfig { url: url()? })),
            NotificationChannelType::Discord => Self::Service(Target::Discord(DiscordConfig { url: url()? })),
            NotificationChannelType::Teams => Self::Service(Target::Teams(TeamsConfig { url: url()? })),
            NotificationChannelType::Apprise => Self::Service(Target::Apprise(AppriseConfig { url: url()? })),
            NotificationChannelType::Ntfy => Self::Service(Target::Ntfy(NtfyConfig {
                url: text("url").unwrap_or(NtfyConfig::DEFAULT_URL).to_owned(),
                topic: text("topic")?.to_owned(),
                token: secret("token"),
            })),
            NotificationChannelType::Telegram => Self::Service(Target::Telegram(TelegramConfig {
                bot_token: secret("bot_token"),
                chat_id: members.get(CHAT_ID).and_then(Value::as_i64),
            })),
            NotificationChannelType::Pushover => Self::Service(Target::Pushover(PushoverConfig {
                user: secret("user")?,
                token: secret("token"),
            })),
            NotificationChannelType::WebPush => Self::Service(Target::WebPush(WebPushConfig {
                endpoint: secret("endpoint")?,
                p256dh: secret("p256dh")?,
                auth: secret("auth")?,
            })),
        })
    }
}
