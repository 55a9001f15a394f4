//! Errors of provider requests.

use std::time::Duration;

use super::Capability;

/// A failed provider request.
///
/// Each message names the fix. No message contains a key, a URL with a key, or a response body.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderError {
    /// The provider rejected the API key (401, or the provider's own equivalent).
    #[error("{provider} rejected the API key; check the key, and that it belongs to the right environment")]
    Unauthorized {
        /// The provider's name.
        provider: &'static str,
    },
    /// The plan does not include the data (403, or the provider's own equivalent).
    #[error(
        "{provider} does not include this data in the current plan; upgrade the plan, or configure another provider for it"
    )]
    Forbidden {
        /// The provider's name.
        provider: &'static str,
    },
    /// The rate limit is exceeded (429), also after waiting.
    #[error(
        "{provider} rate limit exceeded; request fewer symbols, or set the request rate in the settings to the plan's limit"
    )]
    RateLimited {
        /// The provider's name.
        provider: &'static str,
        /// How long the provider asks to wait, if it says so.
        retry_after: Option<Duration>,
    },
    /// The provider's server failed (5xx).
    #[error("{provider} returned a server error (status {status}); try again later, or configure a fallback")]
    Unavailable {
        /// The provider's name.
        provider: &'static str,
        /// The HTTP status.
        status: u16,
    },
    /// The connection could not be established.
    #[error("{provider} cannot be reached; check the network, the host name and the certificate")]
    Unreachable {
        /// The provider's name.
        provider: &'static str,
    },
    /// The connection closed before the response was complete.
    #[error("{provider} closed the connection before the response was complete; try again later")]
    Truncated {
        /// The provider's name.
        provider: &'static str,
    },
    /// The response was not complete before the timeout.
    #[error("{provider} did not respond within {} s; try again later, or increase the timeout", timeout.as_secs_f32())]
    TimedOut {
        /// The provider's name.
        provider: &'static str,
        /// The timeout.
        timeout: Duration,
    },
    /// The response does not have the documented format.
    #[error("{provider} sent a response in an unknown format: {detail}; check for a newer version of this program")]
    Malformed {
        /// The provider's name.
        provider: &'static str,
        /// A description of the problem, without the response's content.
        detail: String,
    },
    /// The response exceeds the size limit.
    #[error("{provider} sent more than {limit_bytes} bytes; request less data at a time")]
    TooLarge {
        /// The provider's name.
        provider: &'static str,
        /// The size limit, in bytes.
        limit_bytes: usize,
    },
    /// Nothing exists at the URL (404): an unknown symbol, or a wrong base URL.
    #[error("{provider} has no such resource; check the symbol and the provider's URL")]
    NotFound {
        /// The provider's name.
        provider: &'static str,
    },
    /// The provider rejected the request as invalid (other 4xx).
    #[error("{provider} rejected the request (status {status}); check for a newer version of this program")]
    Rejected {
        /// The provider's name.
        provider: &'static str,
        /// The HTTP status.
        status: u16,
        /// The symbol that the provider names as the reason, in the provider's spelling.
        symbol: Option<String>,
    },
    /// The provider does not offer this kind of data.
    #[error("{provider} does not offer {capability}; configure another provider for it")]
    NotOffered {
        /// The provider's name.
        provider: &'static str,
        /// The requested capability.
        capability: &'static str,
    },
}

impl ProviderError {
    /// Creates the error that `provider` does not offer `capability`.
    pub(crate) const fn not_offered(provider: &'static str, capability: Capability) -> Self {
        Self::NotOffered {
            provider,
            capability: capability.name(),
        }
    }

    /// Returns the provider's name.
    #[must_use]
    pub const fn provider(&self) -> &'static str {
        match self {
            Self::Unauthorized { provider }
            | Self::Forbidden { provider }
            | Self::RateLimited { provider, .. }
            | Self::Unavailable { provider, .. }
            | Self::Unreachable { provider }
            | Self::Truncated { provider }
            | Self::TimedOut { provider, .. }
            | Self::Malformed { provider, .. }
            | Self::TooLarge { provider, .. }
            | Self::NotFound { provider }
            | Self::Rejected { provider, .. }
            | Self::NotOffered { provider, .. } => provider,
        }
    }

    /// Returns whether a retry of the same request can succeed.
    #[must_use]
    pub const fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::RateLimited { .. }
                | Self::Unavailable { .. }
                | Self::Unreachable { .. }
                | Self::Truncated { .. }
                | Self::TimedOut { .. }
        )
    }

    /// Returns whether the operator must act: fix the key or change the plan.
    #[must_use]
    pub const fn is_account_error(&self) -> bool {
        matches!(self, Self::Unauthorized { .. } | Self::Forbidden { .. })
    }
}
