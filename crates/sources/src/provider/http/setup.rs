//! Configuration and dependencies shared by all provider clients.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::RetryPolicy;
use clock::Clock;
use jiff::Timestamp;

/// The clock, limits and policies that all provider clients share.
#[derive(Clone)]
pub struct AdapterSetup {
    /// The source of time.
    pub clock: Arc<dyn Clock>,
    /// The seed of the random retry delays.
    pub seed: u64,
    /// When another process has made requests with the same accounts for the last time, if one has.
    pub used_until: Option<Timestamp>,
    /// The retry policy for transient errors.
    pub retry: RetryPolicy,
    /// The timeout of a request, from connection to the last byte, and of a WebSocket handshake.
    pub timeout: Duration,
    /// The longest wait for a rate limiter permit or a `Retry-After`. A longer wait fails the request.
    pub max_wait: Duration,
    /// The size limit of a response body, in bytes.
    pub max_response_bytes: usize,
    /// The size limit of a response with the whole market, such as a catalog, in bytes.
    pub max_catalog_bytes: usize,
    /// Whether proxies from environment variables are used. Streams never use a proxy.
    pub proxies_from_environment: bool,
    /// The `User-Agent` header.
    pub user_agent: String,
}

impl AdapterSetup {
    /// Returns the default configuration with this clock and seed.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>, seed: u64) -> Self {
        Self {
            clock,
            seed,
            used_until: None,
            retry: RetryPolicy::default(),
            timeout: Duration::from_secs(20),
            max_wait: Duration::from_secs(120),
            max_response_bytes: 16 << 20,
            max_catalog_bytes: 64 << 20,
            proxies_from_environment: false,
            user_agent: concat!("bellwether/", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }
}

impl fmt::Debug for AdapterSetup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AdapterSetup")
            .field("retry", &self.retry)
            .finish_non_exhaustive()
    }
}

/// An error that prevents the creation of a provider client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AdapterSetupError {
    /// TLS initialisation failed.
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
    /// The HTTP library failed to initialise.
    #[error("the HTTP client cannot be set up")]
    Client,
    /// The key is invalid.
    #[error(transparent)]
    Key(#[from] crate::provider::key::ProviderKeyError),
    /// A configured URL is invalid.
    #[error("{setting} {error}")]
    InvalidUrl {
        /// The name of the setting.
        setting: &'static str,
        /// The problem.
        error: super::ProviderUrlError,
    },
    /// The provider requires a contact, and none is configured.
    #[error("{provider} requires a contact; set `contact` to a name and an email address")]
    NoContact {
        /// The provider's name.
        provider: &'static str,
    },
}
