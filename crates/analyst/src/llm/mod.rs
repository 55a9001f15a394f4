//! # Proposals by a language model, under the same rules
//!
//! A language model behind an OpenAI-compatible endpoint can propose the alerts. This module contains everything
//! except the network: the request ([`chat_request`]) and the checks of the answer ([`parse_answer`]). The service
//! makes the call, with its timeout and budget. If anything fails there or here, the rules' own advice
//! ([`advise`](crate::advise())) takes its place, so the user always gets alerts.
//!
//! ## Trust
//!
//! Nothing from the model is trusted. A JSON schema (`schema.rs`) prescribes the form of the answer, and the parser
//! checks it again, because not every server enforces it (`answer.rs`). Each alert then passes the same check as
//! those of the rules (`proposal.rs`): it is read as a user's request, the plan must allow it, and it must not hold
//! already. It must also suit the intention, lie at a distance that the stock can cover, and give a reason in plain
//! text with a number and without links (`check.rs`). One bad alert invalidates the whole answer.
//!
//! Nothing that the user or a data source wrote is trusted either. Notes and the stock's name go to the model as JSON
//! strings inside a tag that they cannot close (`untrusted.rs`), and the prompt says that the tag contains no
//! instructions. A model that follows them anyway can only propose other alerts on the same stock, for the same
//! account, within the same rules.

mod answer;
mod check;
mod prompt;
mod schema;
mod untrusted;

use serde_json::{Value, json};

use crate::proposal::ProposalError;
use crate::propose::{MIN_PROPOSALS, max_proposals};
use crate::{Advice, Analysis, AnalysisSubject};

pub use check::{MAX_RATIONALE_CHARS, MAX_SUMMARY_CHARS, TextViolation};
pub use schema::{answer_schema, offered_conditions};

/// The maximum size of an answer, in bytes.
pub const MAX_ANSWER_BYTES: usize = 256 * 1024;

/// The facts about a stock for the prompt.
#[derive(Clone, Copy, Debug)]
pub struct PromptInput<'a> {
    /// The stock and the account it is analysed for.
    pub subject: &'a AnalysisSubject<'a>,
    /// Its figures.
    pub analysis: &'a Analysis,
    /// The stock's name, which a user or a data source wrote.
    pub stock_name: Option<&'a str>,
    /// The owner's notes on it.
    pub notes: Option<&'a str>,
}

/// The limit on an answer's length, and the field in which a server expects it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TokenLimit {
    /// `max_completion_tokens`, the field of OpenAI; it also counts a model's reasoning.
    MaxCompletionTokens(u32),
    /// `max_tokens`, the field of servers with the older interface.
    MaxTokens(u32),
}

/// Returns the body of a request to `/chat/completions`.
///
/// It sets no option that some models reject, such as a temperature.
#[must_use]
pub fn chat_request(model: &str, limit: TokenLimit, input: &PromptInput<'_>) -> Value {
    let mut body = json!({
        "model": model,
        "messages": [
            {"role": "system", "content": prompt::system(input)},
            {"role": "user", "content": prompt::user(input)},
        ],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "alerts", "strict": true, "schema": answer_schema(input.subject, input.analysis)},
        },
        "stream": false,
    });
    let (name, tokens) = match limit {
        TokenLimit::MaxCompletionTokens(tokens) => ("max_completion_tokens", tokens),
        TokenLimit::MaxTokens(tokens) => ("max_tokens", tokens),
    };
    body[name] = tokens.into();
    body
}

/// The minimum and maximum number of alerts to request; `None` if the plan allows no more alerts.
#[must_use]
pub fn alert_count_limits(subject: &AnalysisSubject<'_>) -> Option<(usize, usize)> {
    let most = max_proposals(subject);
    (most > 0).then(|| (MIN_PROPOSALS.min(most), most))
}

/// Parses the body of a successful answer of `model`.
///
/// # Errors
/// [`AnswerError`] if the answer cannot be used. It is not the user's error and does not help them: log it and use
/// the rules' advice.
pub fn parse_answer(answer: &[u8], model: &str, input: &PromptInput<'_>) -> Result<Advice, AnswerError> {
    let (least, most) = alert_count_limits(input.subject).ok_or(AnswerError::QuotaExhausted)?;
    let content = answer::content(answer)?;
    let parsed = answer::parse(&content)?;
    if !(least..=most).contains(&parsed.alerts.len()) {
        let found = parsed.alerts.len();
        return Err(AnswerError::AlertCount { found, least, most });
    }
    check::text(&parsed.summary, MAX_SUMMARY_CHARS).map_err(AnswerError::Summary)?;
    Ok(Advice {
        analysis: input.analysis.clone(),
        summary: parsed.summary,
        proposals: check::alerts(parsed.alerts, model, input)?,
    })
}

/// The reason why an answer is rejected. It never repeats text of the model.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum AnswerError {
    /// The answer is longer than the limit.
    #[error("the answer has {0} bytes; at most {MAX_ANSWER_BYTES} are read")]
    TooLong(usize),
    /// The answer is not a response of `/chat/completions`.
    #[error("the answer is not a chat completion: {0}; check analyst.base_url")]
    NotACompletion(&'static str),
    /// The model refused to answer.
    #[error("the model refused to answer")]
    Refused,
    /// The model or the server stopped before the end.
    #[error("the answer is not finished ({0}); allow more tokens, or use another model")]
    Unfinished(UnfinishedReason),
    /// The content is not JSON.
    #[error("the model's answer is not JSON; use a server that enforces response_format")]
    NotJson,
    /// The content does not match the schema.
    #[error("{at} {violation}; use a server that enforces response_format")]
    SchemaMismatch {
        /// The place: `alerts[1].threshold`.
        at: String,
        /// The rest of the sentence.
        violation: &'static str,
    },
    /// The answer has too few or too many alerts.
    #[error("the model proposed {found} alerts where {least} to {most} were asked for")]
    AlertCount {
        /// The number of proposed alerts.
        found: usize,
        /// The minimum number.
        least: usize,
        /// The maximum number.
        most: usize,
    },
    /// The summary is not plain text.
    #[error("the summary {0}")]
    Summary(TextViolation),
    /// An alert is rejected.
    #[error("alert {}: {violation}", index + 1)]
    Alert {
        /// The index of the alert, from 0.
        index: usize,
        /// The reason.
        violation: AlertViolation,
    },
    /// The plan allows no more alerts.
    #[error("the account's plan allows no more alerts; there is nothing to request")]
    QuotaExhausted,
}

/// The reason why an answer is unfinished.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnfinishedReason {
    /// The token limit is reached.
    Length,
    /// The server's content filter cut the answer.
    Filter,
}

impl std::fmt::Display for UnfinishedReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Length => "it reached the limit of tokens",
            Self::Filter => "the server's content filter cut it",
        })
    }
}

/// The reason why an alert of a model is rejected.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum AlertViolation {
    /// The condition was not offered.
    #[error("its condition was not offered")]
    ConditionNotOffered,
    /// The role was not offered.
    #[error("its role was not offered for the intention")]
    RoleNotOffered,
    /// The level is on the wrong side of the price for the role.
    #[error("its level is on the wrong side of the price for its role")]
    WrongSide,
    /// The level is within daily noise.
    #[error("its level is nearer than {0:.4} of the price, which is a day's noise")]
    TooNear(f64),
    /// The level is out of reach.
    #[error("its level is farther than a factor of {0:.2} from the price, which the stock does not cover in a month")]
    TooFar(f64),
    /// The threshold is out of range.
    #[error("its threshold is outside {0}")]
    ThresholdOutOfRange(String),
    /// It duplicates an earlier alert.
    #[error("it duplicates alert {}", .0 + 1)]
    Duplicate(usize),
    /// Its rationale is not plain text.
    #[error("its rationale {0}")]
    Rationale(TextViolation),
    /// A user's request for it would be rejected, or its condition already holds.
    #[error("{0}")]
    Refused(#[from] ProposalError),
}

impl AnswerError {
    /// The value of the error label in metrics.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::TooLong(_) => "too_long",
            Self::NotACompletion(_) => "no_completion",
            Self::Refused => "refused",
            Self::Unfinished(_) => "unfinished",
            Self::NotJson => "not_json",
            Self::SchemaMismatch { .. } => "form",
            Self::AlertCount { .. } => "count",
            Self::Summary(_) => "summary",
            Self::Alert {
                violation: AlertViolation::Refused(ProposalError::AlreadyFulfilled(_)),
                ..
            } => "fulfilled",
            Self::Alert { .. } => "alert",
            Self::QuotaExhausted => "no_room",
        }
    }
}
