//! Pushover: <https://pushover.net/api>.

mod client;
mod error;
mod models;
mod render;

pub(super) use client::send;
pub(super) use render::TEXT_LIMIT;

use super::config::{ChannelConfigError, check_token};
use super::secret::ChannelSecret;

/// The path of the Messages API below the base URL.
pub(super) const MESSAGES_PATH: &str = "/1/messages.json";

/// The configuration of a Pushover channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PushoverConfig {
    /// The user key or group key.
    pub user: ChannelSecret,
    /// The API token of an application; `None` for that of the operator.
    pub token: Option<ChannelSecret>,
}

impl PushoverConfig {
    /// Checks the configuration, and returns it as it is stored.
    ///
    /// # Errors
    /// [`ChannelConfigError`] for `config.user` or `config.token`.
    pub fn checked(self) -> Result<Self, ChannelConfigError> {
        check_token(&self.user, "config.user")?;
        if let Some(token) = &self.token {
            check_token(token, "config.token")?;
        }
        Ok(self)
    }
}

/// The operator's settings of Pushover.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PushoverSettings {
    /// The base URL, [`PushoverSettings::DEFAULT_BASE_URL`] except for tests.
    pub base_url: String,
    /// The API token of the operator's application, for channels without one.
    pub token: Option<ChannelSecret>,
}

impl PushoverSettings {
    /// The base URL of Pushover.
    pub const DEFAULT_BASE_URL: &str = "https://api.pushover.net";
}

impl Default for PushoverSettings {
    fn default() -> Self {
        let base_url = Self::DEFAULT_BASE_URL.to_owned();
        Self { base_url, token: None }
    }
}
