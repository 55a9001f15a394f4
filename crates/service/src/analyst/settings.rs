//! What can be set about the analyst.

use std::time::Duration;

pub use ::analyst::llm::TokenLimit;
use notify::provider::{BearerToken, ProviderSetupError};

/// Who looks at stocks.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// A language model; `None`: the rules, without any network.
    pub model: Option<ModelSettings>,
}

/// A language model behind an endpoint that speaks as OpenAI's does.
#[derive(Clone, Debug)]
pub struct ModelSettings {
    /// Where the API is: `https://api.openai.com/v1`.
    pub base_url: String,
    /// What the endpoint calls the model.
    pub name: String,
    /// What it is shown, if it wants to be shown anything.
    pub key: Option<Key>,
    /// How long an exchange may take in all, waiting for its turn included.
    pub timeout: Duration,
    /// How long an answer may be.
    pub tokens: TokenLimit,
    /// How often it may be asked.
    pub budget: Budget,
}

/// How often the model is asked on a day of UTC; beyond it the rules answer. What was asked is counted in memory: each
/// process has a budget of its own, and a restart begins a new one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// In all. It is the operator's purse.
    pub in_all: u32,
    /// For one account, so that nobody takes all of it.
    pub to_each: u32,
}

/// A key of the endpoint. It does not print.
#[derive(Clone, Debug)]
pub struct Key(pub(super) BearerToken);

impl Key {
    /// Of its text; `None` if it cannot be sent in a header.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        BearerToken::new(text).map(Self)
    }
}

/// Why the model cannot be asked.
#[derive(Debug, thiserror::Error)]
pub enum AnalystError {
    /// The base URL is none.
    #[error("analyst.base_url must be an address like https://api.openai.com/v1, http or https, without a query")]
    BadBaseUrl,
    /// The client cannot be set up.
    #[error("the language model cannot be asked: {0}")]
    Provider(#[from] ProviderSetupError),
}

/// The address of chat completions under a base URL: http or https, with nothing after its path, nor anything secret in it.
pub(super) fn completions(base_url: &str) -> Option<url::Url> {
    let url = url::Url::parse(base_url).ok()?;
    let is_of_the_web = matches!(url.scheme(), "http" | "https") && url.has_host();
    let is_bare =
        url.query().is_none() && url.fragment().is_none() && url.username().is_empty() && url.password().is_none();
    if !is_of_the_web || !is_bare {
        return None;
    }
    let path = format!("{}/chat/completions", url.path().trim_end_matches('/'));
    url.join(&path).ok()
}

/// Refuses a base URL that is none.
///
/// # Errors
/// [`AnalystError::BadBaseUrl`]
pub fn check_base_url(base_url: &str) -> Result<(), AnalystError> {
    completions(base_url).map(drop).ok_or(AnalystError::BadBaseUrl)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chat_completions_are_under_the_base_url_with_or_without_a_slash() {
        for (base_url, expected) in [
            (
                "https://api.openai.com/v1",
                "https://api.openai.com/v1/chat/completions",
            ),
            (
                "https://api.openai.com/v1/",
                "https://api.openai.com/v1/chat/completions",
            ),
            (
                "http://localhost:11434/v1",
                "http://localhost:11434/v1/chat/completions",
            ),
            ("http://10.0.0.7", "http://10.0.0.7/chat/completions"),
        ] {
            assert_eq!(completions(base_url).unwrap().as_str(), expected);
        }
    }

    #[test]
    fn what_is_no_bare_address_of_the_web_is_no_base_url() {
        for wrong in [
            "",
            "api.openai.com/v1",
            "ftp://api.openai.com/v1",
            "file:///v1",
            "https://key@api.openai.com/v1",
            "https://api.openai.com/v1?key=x",
            "https://api.openai.com/v1#x",
        ] {
            assert!(check_base_url(wrong).is_err(), "{wrong}");
        }
    }
}
