//! The configuration of the analyst.

use std::time::Duration;

pub use ::analyst::llm::TokenLimit;
use notify::provider::{BearerToken, ProviderSetupError};

/// The configuration of the analyst.
#[derive(Clone, Debug, Default)]
pub struct AnalystConfig {
    /// The language model; `None` for rules only, without network access.
    pub model: Option<ModelConfig>,
}

/// A language model behind an OpenAI-compatible endpoint.
#[derive(Clone, Debug)]
pub struct ModelConfig {
    /// The base URL of the API: `https://api.openai.com/v1`.
    pub base_url: String,
    /// The endpoint's name of the model.
    pub name: String,
    /// The API key, if the endpoint needs one.
    pub key: Option<ModelKey>,
    /// The timeout of a request, including the wait for a permit.
    pub timeout: Duration,
    /// The maximum length of a response.
    pub tokens: TokenLimit,
    /// The call budget.
    pub budget: CallBudget,
}

/// The number of model calls per UTC day; beyond it the rules answer. All processes on a PostgreSQL
/// database share the budget. On SQLite, calls are counted in memory, and a restart begins a new budget.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallBudget {
    /// The total, which bounds the operator's costs.
    pub total: u32,
    /// The maximum for one account, so that one account cannot use up the total.
    pub per_account: u32,
}

/// The API key of the endpoint. Its `Debug` form does not contain it.
#[derive(Clone, Debug)]
pub struct ModelKey(pub(super) BearerToken);

impl ModelKey {
    /// Creates a key from its text; `None` if it cannot be sent in a header.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        BearerToken::new(text).map(Self)
    }
}

/// An invalid configuration of the analyst.
#[derive(Debug, thiserror::Error)]
pub enum AnalystError {
    /// The base URL is invalid.
    #[error("analyst.base_url must be an address like https://api.openai.com/v1, http or https, without a query")]
    BadBaseUrl,
    /// The client cannot be created.
    #[error("the language model cannot be asked: {0}")]
    Provider(#[from] ProviderSetupError),
}

/// Returns the URL of chat completions under a base URL: http or https, without a query, a fragment or credentials.
pub(super) fn chat_completions_url(base_url: &str) -> Option<url::Url> {
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

/// Checks a base URL.
///
/// # Errors
/// [`AnalystError::BadBaseUrl`]
pub fn check_base_url(base_url: &str) -> Result<(), AnalystError> {
    chat_completions_url(base_url).map(drop).ok_or(AnalystError::BadBaseUrl)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chat_completions_url_is_under_the_base_url() {
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
            assert_eq!(chat_completions_url(base_url).unwrap().as_str(), expected);
        }
    }

    #[test]
    fn rejects_invalid_base_urls() {
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
