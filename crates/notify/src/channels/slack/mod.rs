//! Slack, through an incoming webhook: <https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks>.

mod client;
mod error;
mod models;
mod render;

pub(super) use client::send;
pub(super) use render::TEXT_LIMIT;

use super::config::{ChannelConfigError, URL_FIELD, checked_url};
use super::secret::ChannelSecret;
use crate::address::UrlPolicy;

/// The configuration of a Slack channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SlackConfig {
    /// The URL of the incoming webhook. It permits posting, so it is a secret.
    pub url: ChannelSecret,
}

impl SlackConfig {
    /// Checks the configuration, and returns it as it is stored.
    ///
    /// # Errors
    /// [`ChannelConfigError`] for `config.url`.
    pub fn checked(self, rules: &UrlPolicy) -> Result<Self, ChannelConfigError> {
        let url = ChannelSecret::new(checked_url(self.url.expose(), rules, URL_FIELD)?);
        Ok(Self { url })
    }
}
