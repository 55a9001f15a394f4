//! Why a provider did not answer.

use std::time::Duration;

/// Why there is no answer. Each message names the mend, and none has a key, an address with one, or what was answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderError {
    /// The key is wrong (401, or what the provider says instead).
    #[error("{provider} does not take the key; check it, and that it is of the right environment")]
    Unauthorized {
        /// Who.
        provider: &'static str,
    },
    /// The plan does not cover it (403, or what the provider says instead).
    #[error("{provider} refuses this on the present plan; take another plan, or another provider for it")]
    Forbidden {
        /// Who.
        provider: &'static str,
    },
    /// Asked too often (429), also after waiting.
    #[error("{provider} was asked too often; ask for fewer symbols, or set its budget to what the plan allows")]
    RateLimited {
        /// Who.
        provider: &'static str,
        /// For how long it wants to be left alone, if it said so.
        retry_after: Option<Duration>,
    },
    /// It is out of order (5xx).
    #[error("{provider} is out of order (status {status}); try again later, or set a fallback")]
    Unavailable {
        /// Who.
        provider: &'static str,
        /// The status it answered with.
        status: u16,
    },
    /// No connection came about.
    #[error("{provider} cannot be reached; check the network, its name and its certificate")]
    Unreachable {
        /// Who.
        provider: &'static str,
    },
    /// The connection ended before the answer did.
    #[error("{provider} cut its answer short; try again later")]
    Cut {
        /// Who.
        provider: &'static str,
    },
    /// The answer was not whole in time.
    #[error("{provider} did not answer within {} s; try again later, or raise its deadline", within.as_secs_f32())]
    TimedOut {
        /// Who.
        provider: &'static str,
        /// The deadline.
        within: Duration,
    },
    /// The answer has another shape than is documented.
    #[error("{provider} answered something else than is documented: {what}; is there a newer version of this program?")]
    Malformed {
        /// Who.
        provider: &'static str,
        /// What is wrong with it, without what was answered.
        what: String,
    },
    /// The answer is larger than is read.
    #[error("{provider} answered more than {limit_bytes} bytes; ask for less at a time")]
    TooLarge {
        /// Who.
        provider: &'static str,
        /// How much is read.
        limit_bytes: usize,
    },
    /// There is nothing where it was asked (404): a symbol it does not know, or a wrong address.
    #[error("{provider} has nothing there; check the symbol and the provider's address")]
    NotFound {
        /// Who.
        provider: &'static str,
    },
    /// The request made no sense to it (other 4xx).
    #[error("{provider} does not take the request (status {status}); is there a newer version of this program?")]
    Refused {
        /// Who.
        provider: &'static str,
        /// The status it answered with.
        status: u16,
        /// The symbol that it names as the reason, as it writes it.
        symbol: Option<String>,
    },
    /// It does not offer this at all.
    #[error("{provider} does not offer {capability}; set another provider for it")]
    NotOffered {
        /// Who.
        provider: &'static str,
        /// What was asked for.
        capability: &'static str,
    },
}

impl ProviderError {
    /// Who did not answer.
    #[must_use]
    pub const fn provider(&self) -> &'static str {
        match self {
            Self::Unauthorized { provider }
            | Self::Forbidden { provider }
            | Self::RateLimited { provider, .. }
            | Self::Unavailable { provider, .. }
            | Self::Unreachable { provider }
            | Self::Cut { provider }
            | Self::TimedOut { provider, .. }
            | Self::Malformed { provider, .. }
            | Self::TooLarge { provider, .. }
            | Self::NotFound { provider }
            | Self::Refused { provider, .. }
            | Self::NotOffered { provider, .. } => provider,
        }
    }

    /// Whether asking the same again can help.
    #[must_use]
    pub const fn is_passing(&self) -> bool {
        matches!(
            self,
            Self::RateLimited { .. }
                | Self::Unavailable { .. }
                | Self::Unreachable { .. }
                | Self::Cut { .. }
                | Self::TimedOut { .. }
        )
    }

    /// Whether it takes a person to mend it: the key or the plan.
    #[must_use]
    pub const fn is_of_the_account(&self) -> bool {
        matches!(self, Self::Unauthorized { .. } | Self::Forbidden { .. })
    }
}
