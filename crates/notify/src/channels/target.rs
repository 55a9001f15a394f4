//! The configuration of a channel of any type.

use super::apprise::{self, AppriseConfig};
use super::config::{ChannelConfigError, URL_FIELD};
use super::discord::{self, DiscordConfig};
use super::ntfy::{self, NtfyConfig};
use super::pushover::{self, PushoverConfig};
use super::secret::ChannelSecret;
use super::slack::{self, SlackConfig};
use super::teams::{self, TeamsConfig};
use super::telegram::{self, TelegramConfig};
use super::text::TextLimit;
use super::web_push::{self, WebPushConfig};
use crate::address::UrlPolicy;
use url::Url;

/// The configuration of a channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ChannelTarget {
    /// Slack, through an incoming webhook.
    Slack(SlackConfig),
    /// Discord, through a webhook.
    Discord(DiscordConfig),
    /// Microsoft Teams, through a workflow.
    Teams(TeamsConfig),
    /// ntfy.
    Ntfy(NtfyConfig),
    /// An Apprise API server.
    Apprise(AppriseConfig),
    /// Telegram.
    Telegram(TelegramConfig),
    /// Pushover.
    Pushover(PushoverConfig),
    /// A browser, through the push service of its vendor.
    WebPush(WebPushConfig),
}

impl ChannelTarget {
    /// Returns the name of the type, as in the API: `slack`.
    #[must_use]
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::Slack(_) => "slack",
            Self::Discord(_) => "discord",
            Self::Teams(_) => "teams",
            Self::Ntfy(_) => "ntfy",
            Self::Apprise(_) => "apprise",
            Self::Telegram(_) => "telegram",
            Self::Pushover(_) => "pushover",
            Self::WebPush(_) => "web_push",
        }
    }

    /// Checks the configuration without a DNS lookup, and returns it as it is stored: with URLs in their normal form.
    ///
    /// # Errors
    /// [`ChannelConfigError`] for the first invalid field.
    pub fn checked(self, rules: &UrlPolicy) -> Result<Self, ChannelConfigError> {
        match self {
            Self::Slack(config) => config.checked(rules).map(Self::Slack),
            Self::Discord(config) => config.checked(rules).map(Self::Discord),
            Self::Teams(config) => config.checked(rules).map(Self::Teams),
            Self::Ntfy(config) => config.checked(rules).map(Self::Ntfy),
            Self::Apprise(config) => config.checked(rules).map(Self::Apprise),
            Self::Telegram(config) => config.checked().map(Self::Telegram),
            Self::Pushover(config) => config.checked().map(Self::Pushover),
            Self::WebPush(config) => config.checked(rules).map(Self::WebPush),
        }
    }

    /// Returns the maximum length of the text of a message. A longer text is cut. Escape sequences and links reduce it.
    #[must_use]
    pub const fn text_limit(&self) -> TextLimit {
        match self {
            Self::Slack(_) => slack::TEXT_LIMIT,
            Self::Discord(_) => discord::TEXT_LIMIT,
            Self::Teams(_) => teams::TEXT_LIMIT,
            Self::Ntfy(_) => ntfy::TEXT_LIMIT,
            Self::Apprise(_) => apprise::TEXT_LIMIT,
            Self::Telegram(_) => telegram::TEXT_LIMIT,
            Self::Pushover(_) => pushover::TEXT_LIMIT,
            Self::WebPush(_) => web_push::TEXT_LIMIT,
        }
    }

    /// Returns the host of the URL that the owner of the channel chose, or else the name of the service. A slow host delays only
    /// messages to itself.
    #[must_use]
    pub fn host(&self) -> String {
        let url = self.user_url().and_then(|url| Url::parse(url).ok());
        let host = url.as_ref().and_then(Url::host_str);
        host.unwrap_or(self.type_name()).to_owned()
    }

    /// Returns the URL that the owner of the channel chose, if there is one.
    pub(super) fn user_url(&self) -> Option<&str> {
        match self {
            Self::Slack(config) => Some(config.url.expose()),
            Self::Discord(config) => Some(config.url.expose()),
            Self::Teams(config) => Some(config.url.expose()),
            Self::Apprise(config) => Some(config.url.expose()),
            Self::Ntfy(config) => Some(&config.url),
            Self::WebPush(config) => Some(config.endpoint.expose()),
            Self::Telegram(_) | Self::Pushover(_) => None,
        }
    }

    /// Returns the field of the URL that the owner of the channel chose.
    pub(super) const fn user_url_field(&self) -> &'static str {
        match self {
            Self::WebPush(_) => web_push::ENDPOINT_FIELD,
            _ => URL_FIELD,
        }
    }

    /// Returns the secrets of the configuration.
    pub(super) fn secrets(&self) -> Vec<&str> {
        match self {
            Self::Slack(config) => vec![config.url.expose()],
            Self::Discord(config) => vec![config.url.expose()],
            Self::Teams(config) => vec![config.url.expose()],
            Self::Apprise(config) => vec![config.url.expose()],
            Self::Ntfy(config) => config.token.iter().map(ChannelSecret::expose).collect(),
            Self::Telegram(config) => config.bot_token.iter().map(ChannelSecret::expose).collect(),
            Self::Pushover(config) => {
                let keys = [Some(&config.user), config.token.as_ref()];
                keys.into_iter().flatten().map(ChannelSecret::expose).collect()
            }
            Self::WebPush(config) => vec![config.endpoint.expose(), config.p256dh.expose(), config.auth.expose()],
        }
    }
}
