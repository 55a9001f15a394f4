//! Why the rules answered where a model was to.

use ::analyst::llm::AnswerError;
use notify::provider::ProviderCallError;

/// Why the rules answered where a model was to. The texts are for the operator's log; users are told the [name](Self::name).
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum WhyNot {
    /// The account's plan has no room for alerts, so there was nothing to ask.
    #[error("the account's plan has no room for another alert; there is nothing to ask")]
    NoRoom,
    /// The day's calls are used up.
    #[error("the day's calls are used up; raise analyst.calls_per_day if you want more")]
    Budget,
    /// The account's calls of the day are used up.
    #[error("the account's calls of the day are used up; raise analyst.calls_per_account if you want more")]
    Share,
    /// The endpoint asked to be left alone, and the time has not passed.
    #[error("the endpoint has asked to be left alone for a while")]
    Resting,
    /// There were too many questions before this one.
    #[error("too many questions are under way")]
    Busy,
    /// The exchange was not over in time.
    #[error("there was no answer within analyst.timeout")]
    TimedOut,
    /// No answer came.
    #[error("the endpoint did not answer ({}); check analyst.base_url", .0.name())]
    Unreachable(ProviderCallError),
    /// The endpoint asks to be asked less often (429).
    #[error("the endpoint asks to be asked less often (429); lower analyst.calls_per_day, or raise your limit there")]
    RateLimited,
    /// The endpoint does not take the key (401, 403).
    #[error("the endpoint does not take the key ({0}); check analyst.api_key")]
    NotAuthenticated(u16),
    /// The endpoint refused or failed.
    #[error("the endpoint answered {0}; check analyst.base_url and analyst.model")]
    Status(u16),
    /// What it answered is not to be had.
    #[error("{0}")]
    Answer(#[from] AnswerError),
    /// The service is stopping, or whoever waits wants to wait no longer.
    #[error("there is no time to wait for an answer")]
    Stopping,
    /// A fault of this program.
    #[error("this program failed")]
    Internal,
}

impl WhyNot {
    /// The names of all there are.
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

    /// A word for users and programs.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::NoRoom => "no_room",
            Self::Budget => "budget",
            Self::Share => "share",
            Self::Resting => "resting",
            Self::Busy => "busy",
            Self::TimedOut => "timed_out",
            Self::Unreachable(_) => "unreachable",
            Self::RateLimited => "rate_limited",
            Self::NotAuthenticated(_) => "not_authenticated",
            Self::Status(_) => "http_error",
            Self::Answer(_) => "bad_answer",
            Self::Stopping => "stopping",
            Self::Internal => "internal_error",
        }
    }

    /// A word for counting, which tells bad answers apart.
    pub(super) const fn outcome(&self) -> &'static str {
        match self {
            Self::Answer(error) => error.name(),
            Self::Unreachable(fault) => fault.name(),
            _ => self.name(),
        }
    }

    /// Whether there is something that an operator should look at. What is as it was set, or passes, is not.
    pub(super) const fn is_trouble(&self) -> bool {
        !matches!(
            self,
            Self::NoRoom | Self::Budget | Self::Share | Self::Resting | Self::Stopping
        )
    }
}

impl From<ProviderCallError> for WhyNot {
    fn from(fault: ProviderCallError) -> Self {
        match fault {
            ProviderCallError::TimedOut => Self::TimedOut,
            ProviderCallError::TooLong => Self::Answer(AnswerError::TooLong(::analyst::llm::MAX_ANSWER_BYTES + 1)),
            fault => Self::Unreachable(fault),
        }
    }
}
