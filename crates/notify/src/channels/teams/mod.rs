//! Microsoft Teams, through the URL of a workflow ("When a Teams webhook request is received"):
//! <https://support.microsoft.com/office/create-incoming-webhooks-with-workflows-for-microsoft-teams-8ae491c7-0394-4861-ba59-055e33f75498>.

mod client;
mod error;
mod models;
mod render;

pub(super) use client::send;
pub(super) use render::TEXT_LIMIT;

use super::config::{ChannelConfigError, URL_FIELD, checked_url};
use super::secret::ChannelSecret;
use crate::address::UrlPolicy;

/// The configuration of a Teams channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TeamsConfig {
    /// The URL of the workflow, with its signature. It permits posting, so it is a secret.
    pub url: ChannelSecret,
}

impl TeamsConfig {
    /// Checks the configuration, and returns it as it is stored.
    ///
    /// # Errors
    /// [`ChannelConfigError`] for `config.url`.
    pub fn checked(self, rules: &UrlPolicy) -> Result<Self, ChannelConfigError> {
        let url = ChannelSecret::new(checked_url(self.url.expose(), rules, URL_FIELD)?);
        Ok(Self { url })
    }
}
