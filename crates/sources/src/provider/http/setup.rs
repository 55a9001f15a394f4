//! What all providers are asked with.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::Retry;
use crate::Clock;

/// How providers are asked, and with what.
#[derive(Clone)]
pub struct Setup {
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// What chance begins with.
    pub seed: u64,
    /// When to ask again.
    pub retry: Retry,
    /// An exchange that is not over by then has failed.
    pub deadline: Duration,
    /// Who would have to wait longer for the budget, or for a `Retry-After`, is told so instead.
    pub patience: Duration,
    /// Of an answer, so much is read.
    pub most_bytes: usize,
    /// The same of a whole catalog.
    pub most_catalog_bytes: usize,
    /// Whether proxies named by environment variables are used. Streams know none.
    pub proxies_from_environment: bool,
    /// Who asks.
    pub user_agent: String,
}

impl Setup {
    /// The usual, with this time and chance.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>, seed: u64) -> Self {
        Self {
            clock,
            seed,
            retry: Retry::default(),
            deadline: Duration::from_secs(20),
            patience: Duration::from_secs(120),
            most_bytes: 16 << 20,
            most_catalog_bytes: 64 << 20,
            proxies_from_environment: false,
            user_agent: concat!("bellwether/", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }
}

impl fmt::Debug for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Setup")
            .field("retry", &self.retry)
            .finish_non_exhaustive()
    }
}

/// Why a provider cannot be asked at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// TLS.
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
    /// The library does not work.
    #[error("the HTTP client cannot be set up")]
    Client,
    /// The key fits into no header.
    #[error(transparent)]
    Key(#[from] crate::provider::key::KeyError),
    /// A wrong address.
    #[error("{setting} {error}")]
    Address {
        /// Which.
        setting: &'static str,
        /// What is wrong with it.
        error: super::AddressError,
    },
    /// A provider that wants to know who asks was not told.
    #[error("{provider} wants to know who asks; set its contact to a name and a mail address")]
    NoContact {
        /// Who.
        provider: &'static str,
    },
}
