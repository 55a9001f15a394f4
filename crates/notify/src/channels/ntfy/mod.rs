//! ntfy, on ntfy.sh or a server of its user: <https://docs.ntfy.sh/publish/#publish-as-json>.

mod client;
mod error;
mod models;
mod render;

pub(super) use client::send;
pub(super) use render::TEXT_LIMIT;

use super::config::{ChannelConfigError, ChannelConfigProblem, URL_FIELD, check_token, checked_url};
use super::secret::ChannelSecret;
use crate::address::UrlPolicy;

/// Maximum length of a topic, in characters.
const MAX_TOPIC_LENGTH: usize = 64;

/// The configuration of an ntfy channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NtfyConfig {
    /// The address of the server, [`NtfyConfig::DEFAULT_URL`] if the owner has none.
    pub url: String,
    /// The topic.
    pub topic: String,
    /// An access token, if the topic is protected.
    pub token: Option<ChannelSecret>,
}

impl NtfyConfig {
    /// The address of the public server.
    pub const DEFAULT_URL: &str = "https://ntfy.sh";

    /// Checks the configuration, and returns it as it is stored.
    ///
    /// # Errors
    /// [`ChannelConfigError`] for `config.url`, `config.topic` or `config.token`.
    pub fn checked(self, rules: &UrlPolicy) -> Result<Self, ChannelConfigError> {
        let url = checked_url(&self.url, rules, URL_FIELD)?;
        // The server's rule: ^[-_A-Za-z0-9]{1,64}$.
        let is_topic = (1..=MAX_TOPIC_LENGTH).contains(&self.topic.len())
            && self
                .topic
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        if !is_topic {
            return Err(ChannelConfigProblem::Topic.at("config.topic"));
        }
        if let Some(token) = &self.token {
            check_token(token, "config.token")?;
        }
        Ok(Self { url, ..self })
    }
}
