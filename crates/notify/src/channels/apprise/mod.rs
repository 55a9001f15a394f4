//! An Apprise API server, which forwards messages to the services that are configured there:
//! <https://github.com/caronc/apprise-api#api-details>.

mod client;
mod error;
mod models;
mod render;

pub(super) use client::send;
pub(super) use render::TEXT_LIMIT;

use super::config::{ChannelConfigError, URL_FIELD, checked_url};
use super::secret::ChannelSecret;
use crate::address::UrlPolicy;

/// The configuration of an Apprise channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AppriseConfig {
    /// The whole notify address, like `https://apprise.example/notify/KEY`. Its key is a secret.
    pub url: ChannelSecret,
}

impl AppriseConfig {
    /// Checks the configuration, and returns it as it is stored.
    ///
    /// # Errors
    /// [`ChannelConfigError`] for `config.url`.
    pub fn checked(self, rules: &UrlPolicy) -> Result<Self, ChannelConfigError> {
        let url = ChannelSecret::new(checked_url(self.url.expose(), rules, URL_FIELD)?);
        Ok(Self { url })
    }
}
