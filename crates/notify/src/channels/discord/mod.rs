//! Discord, through a webhook: <https://docs.discord.com/developers/resources/webhook#execute-webhook>.

mod client;
mod error;
mod models;
mod render;

pub(super) use client::send;
pub(super) use render::TEXT_LIMIT;

use super::config::{ChannelConfigError, URL_FIELD, checked_url};
use super::secret::ChannelSecret;
use crate::address::UrlPolicy;

/// The configuration of a Discord channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DiscordConfig {
    /// The URL of the webhook. It permits posting, so it is a secret.
    pub url: ChannelSecret,
}

impl DiscordConfig {
    /// Checks the configuration, and returns it as it is stored.
    ///
    /// # Errors
    /// [`ChannelConfigError`] for `config.url`.
    pub fn checked(self, rules: &UrlPolicy) -> Result<Self, ChannelConfigError> {
        let url = ChannelSecret::new(checked_url(self.url.expose(), rules, URL_FIELD)?);
        Ok(Self { url })
    }
}
