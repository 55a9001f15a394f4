//! Why the rules answered instead of a language model.

use ::analyst::llm::AnswerError;
use notify::provider::ProviderCallError;

/// Why the rules answered instead of a language model. The texts are for the operator's log; users see the
/// [name](Self::name).
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum FallbackReason {
    /// The account's quota of alerts is used up, so there was nothing to ask.
    #[error("the account's plan has no room for another alert; there is nothing to ask")]
    NoAlertQuota,
    /// The calls of the day are used up.
    #[error("the day's calls are used up; raise analyst.calls_per_day if you want more")]
    Budget,
    /// The account's calls of the day are used up.
    #[error("the account's calls of the day are used up; raise analyst.calls_per_account if you want more")]
    AccountBudget,
    /// The budget is shared with other processes, and the database failed.
    #[error("the calls that are left today could not be read; check the database")]
    BudgetUnknown,
    /// The endpoint asked for a pause (`Retry-After`) that is not over.
    #[error("the endpoint has asked for a pause (Retry-After)")]
    BackingOff,
    /// Too many other requests are waiting.
    #[error("too many questions are under way")]
    Busy,
    /// The request timed out.
    #[error("there was no answer within analyst.timeout")]
    TimedOut,
    /// The endpoint did not answer.
    #[error("the endpoint did not answer ({}); check analyst.base_url", .0.name())]
    Unreachable(ProviderCallError),
    /// The endpoint limits the rate of requests (429).
    #[error("the endpoint limits the rate of requests (429); lower analyst.calls_per_day, or raise your limit there")]
    RateLimited,
    /// The endpoint rejects the key (401, 403).
    #[error("the endpoint does not take the key ({0}); check analyst.api_key")]
    NotAuthenticated(u16),
    /// The endpoint answered with another error status.
    #[error("the endpoint answered {0}; check analyst.base_url and analyst.model")]
    Status(u16),
    /// The response is invalid.
    #[error("{0}")]
    Answer(#[from] AnswerError),
    /// The service is stopping, or the caller does not wait any longer.
    #[error("the service is stopping or the caller has gone")]
    Stopping,
    /// An internal error.
    #[error("an internal error occurred")]
    Internal,
}

impl FallbackReason {
    /// All names.
    pub const NAMES: &'static [&'static str] = &[
        "no_room",
        "budget",
        "share",
        "resting",
        "busy",
        "timed_out",
        "unreachable",
        "rate_limited",
        "not_authenticated",
        "http_error",
        "bad_answer",
        "stopping",
        "internal_error",
    ];

    /// Returns the name for users and programs.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::NoAlertQuota => "no_room",
            Self::Budget => "budget",
            Self::AccountBudget => "share",
            Self::BackingOff => "resting",
            Self::Busy => "busy",
            Self::TimedOut => "timed_out",
            Self::Unreachable(_) => "unreachable",
            Self::RateLimited => "rate_limited",
            Self::NotAuthenticated(_) => "not_authenticated",
            Self::Status(_) => "http_error",
            Self::Answer(_) => "bad_answer",
            Self::Stopping => "stopping",
            Self::Internal | Self::BudgetUnknown => "internal_error",
        }
    }

    /// Returns the name for metrics, which distinguishes invalid responses.
    pub(super) const fn outcome(&self) -> &'static str {
        match self {
            Self::Answer(error) => error.name(),
            Self::Unreachable(fault) => fault.name(),
            _ => self.name(),
        }
    }

    /// Whether the operator should look at it. Configured limits and temporary states do not count.
    pub(super) const fn needs_attention(&self) -> bool {
        !matches!(
            self,
            Self::NoAlertQuota | Self::Budget | Self::AccountBudget | Self::BackingOff | Self::Stopping
        )
    }
}

impl From<ProviderCallError> for FallbackReason {
    fn from(fault: ProviderCallError) -> Self {
        match fault {
            ProviderCallError::TimedOut => Self::TimedOut,
            ProviderCallError::TooLong => Self::Answer(AnswerError::TooLong(::analyst::llm::MAX_ANSWER_BYTES + 1)),
            fault => Self::Unreachable(fault),
        }
    }
}
