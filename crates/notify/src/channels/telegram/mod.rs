//! Telegram, through the Bot API: <https://core.telegram.org/bots/api>.
//!
//! The bot is that of the operator or of the user. A chat is linked when its member sends `/start CODE` to the bot, which
//! [`TelegramBot::updates`] reads. Buttons return their data to the bot in the same way.
//!
//! The token is part of the path of each request, so URLs appear nowhere else.

mod bot;
mod client;
mod error;
mod models;
mod render;
mod updates;

pub use bot::{TelegramBot, TelegramError};
pub(super) use client::send;
pub(super) use render::TEXT_LIMIT;
pub use updates::{TelegramEvent, TelegramUpdate};
use url::Url;

use super::config::{ChannelConfigError, ChannelConfigProblem};
use super::secret::ChannelSecret;

/// Maximum length of a token, in characters.
const MAX_TOKEN_LENGTH: usize = 256;

/// The configuration of a Telegram channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TelegramConfig {
    /// The token of the user's bot; `None` for that of the operator.
    pub bot_token: Option<ChannelSecret>,
    /// The chat; `None` until it is linked.
    pub chat_id: Option<i64>,
}

impl TelegramConfig {
    /// Checks the configuration, and returns it as it is stored.
    ///
    /// # Errors
    /// [`ChannelConfigError`] for `config.bot_token`.
    pub fn checked(self) -> Result<Self, ChannelConfigError> {
        match &self.bot_token {
            Some(token) if !is_token(token) => Err(ChannelConfigProblem::BotToken.at("config.bot_token")),
            _ => Ok(self),
        }
    }
}

/// The operator's settings of Telegram.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TelegramSettings {
    /// The base URL, [`TelegramSettings::DEFAULT_BASE_URL`] except for tests and for a Bot API server of the operator.
    pub base_url: String,
    /// The token of the operator's bot, for channels without one.
    pub bot_token: Option<ChannelSecret>,
}

impl TelegramSettings {
    /// The base URL of the Bot API.
    pub const DEFAULT_BASE_URL: &str = "https://api.telegram.org";
}

impl Default for TelegramSettings {
    fn default() -> Self {
        let base_url = Self::DEFAULT_BASE_URL.to_owned();
        Self {
            base_url,
            bot_token: None,
        }
    }
}

/// Returns whether a token can be part of a path: `123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11`.
fn is_token(token: &ChannelSecret) -> bool {
    let token = token.expose();
    let is_permitted = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b':' | b'-' | b'_');
    (1..=MAX_TOKEN_LENGTH).contains(&token.len()) && token.bytes().all(is_permitted)
}

/// Returns the URL of a method: `https://api.telegram.org/bot<token>/sendMessage`.
fn method_url(base: &Url, token: &ChannelSecret, method: &str) -> Option<Url> {
    if !is_token(token) {
        return None;
    }
    let mut url = base.clone();
    let path = base.path().trim_end_matches('/');
    url.set_path(&format!("{path}/bot{}/{method}", token.expose()));
    Some(url)
}
