//! Checks of the configuration of a channel. Errors name the field and the fix.

use thiserror::Error;

use super::secret::ChannelSecret;
use crate::address::{UrlPolicy, UrlPolicyError};

/// The field of the URL of a channel.
pub(super) const URL_FIELD: &str = "config.url";

/// Maximum length of a token or key in bytes.
const MAX_TOKEN_LENGTH: usize = 256;

/// A field of the configuration of a channel is invalid.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{problem}")]
pub struct ChannelConfigError {
    /// The name of the field in requests, like `config.url`.
    pub field: &'static str,
    /// The problem.
    pub problem: ChannelConfigProblem,
}

/// The problem of a field. The message is for the owner of the channel and names the fix.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ChannelConfigProblem {
    /// The URL is not permitted.
    #[error(transparent)]
    Url(#[from] UrlPolicyError),
    /// The ntfy topic is invalid.
    #[error("must be 1 to 64 letters, digits, hyphens or underscores")]
    Topic,
    /// A token or key has characters that no service uses.
    #[error("must be 1 to 256 visible ASCII characters without spaces; copy it again from the service")]
    Token,
    /// The token of a Telegram bot is invalid.
    #[error(
        "must be the token of a bot, as @BotFather shows it: digits, a colon, and letters, digits, hyphens or underscores"
    )]
    BotToken,
    /// The public key of a browser's subscription is invalid.
    #[error(
        "must be the `p256dh` of the browser's subscription: an uncompressed point of P-256, 65 bytes in base64url without padding"
    )]
    PushPublicKey,
    /// The authentication secret of a browser's subscription is invalid.
    #[error("must be the `auth` of the browser's subscription: 16 bytes in base64url without padding")]
    PushAuth,
    /// Neither the channel nor the operator has a token.
    #[error("is required, because the operator has configured no token")]
    Required,
}

impl ChannelConfigProblem {
    pub(super) const fn at(self, field: &'static str) -> ChannelConfigError {
        ChannelConfigError { field, problem: self }
    }
}

/// Checks the URL of a channel without a DNS lookup, and returns it in its normal form, which is stored.
pub(super) fn checked_url(url: &str, rules: &UrlPolicy, field: &'static str) -> Result<String, ChannelConfigError> {
    match rules.check(url) {
        Ok(target) => Ok(target.url().to_owned()),
        Err(error) => Err(ChannelConfigProblem::Url(error).at(field)),
    }
}

/// Checks a token or key.
pub(super) fn check_token(token: &ChannelSecret, field: &'static str) -> Result<(), ChannelConfigError> {
    let token = token.expose();
    let is_valid = (1..=MAX_TOKEN_LENGTH).contains(&token.len()) && token.bytes().all(|byte| byte.is_ascii_graphic());
    if is_valid {
        Ok(())
    } else {
        Err(ChannelConfigProblem::Token.at(field))
    }
}
