//! # A language model in the analyst's place, and how it is held to the rules
//!
//! Whoever wants it can have the alerts thought of by a language model behind an OpenAI-compatible endpoint. This
//! module has everything about it that is no network: what is asked ([`request`]), and what is taken of the answer
//! ([`read`]). The call itself, with its timeout and its budget, is made elsewhere; whatever goes wrong there or here,
//! the rules' own advice ([`advise`](crate::advise())) stands in, so nobody who waits for alerts waits in vain.
//!
//! ## What is trusted
//!
//! Nothing that the model says. The answer's form is laid down by a JSON schema (`schema.rs`) and checked again on
//! arrival, for not every server enforces it (`form.rs`). Each alert then goes through the gate that the rules' own
//! go through (`gate.rs`): it is read as a user's request, the plan has to allow it, and it must not hold already.
//! Beyond that it must make sense for the intention, at a distance that the stock can cover, with a reason that is
//! plain text with a number and without any link (`check.rs`). One bad alert makes the whole answer bad: a model that
//! errs once is not to be believed the rest.
//!
//! Nothing that the user or a data source wrote, either. Their notes and the stock's name go to the model as JSON
//! strings inside a fence that they cannot close (`fence.rs`), and the prompt says that what is inside is no
//! instruction. Should a model follow it all the same, it can do no more than propose other alerts on the same stock,
//! for the same account, within the same rules.

mod check;
mod fence;
mod form;
mod prompt;
mod schema;

use serde_json::{Value, json};

use crate::gate::Refusal;
use crate::propose::{LEAST, MOST};
use crate::{Advice, Analysis, Subject};

pub use check::{MOST_RATIONALE_CHARS, MOST_SUMMARY_CHARS, TextFault};
pub use schema::{answer_schema, offered};

/// Longer answers are not read, in bytes.
pub const MAX_ANSWER_BYTES: usize = 256 * 1024;

/// What a model is told of a stock.
#[derive(Clone, Copy, Debug)]
pub struct Brief<'a> {
    /// The stock and for whom it is looked at.
    pub subject: &'a Subject<'a>,
    /// Its figures.
    pub analysis: &'a Analysis,
    /// Its name, which a user or a data source wrote.
    pub stock_name: Option<&'a str>,
    /// The owner's notes on it.
    pub notes: Option<&'a str>,
}

/// How long the answer may be, and under which name a server takes that.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TokenLimit {
    /// `max_completion_tokens`, as OpenAI itself wants it; it counts a model's thinking, too.
    MaxCompletionTokens(u32),
    /// `max_tokens`, as servers that follow the older interface want it.
    MaxTokens(u32),
}

/// The body of a request to `/chat/completions`.
///
/// It sets nothing that some models refuse, such as a temperature.
#[must_use]
pub fn request(model: &str, limit: TokenLimit, brief: &Brief<'_>) -> Value {
    let mut body = json!({
        "model": model,
        "messages": [
            {"role": "system", "content": prompt::system(brief)},
            {"role": "user", "content": prompt::user(brief)},
        ],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "alerts", "strict": true, "schema": answer_schema(brief.subject, brief.analysis)},
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

/// How few and how many alerts are asked for; `None` when the plan has no room for any, and nothing is to be asked.
#[must_use]
pub fn counts(subject: &Subject<'_>) -> Option<(usize, usize)> {
    let room = subject
        .room()
        .and_then(|room| usize::try_from(room).ok())
        .unwrap_or(MOST);
    let most = room.min(MOST);
    (most > 0).then(|| (LEAST.min(most), most))
}

/// Reads the body of a successful answer of `model`.
///
/// # Errors
/// [`AnswerError`]: what is wrong with the answer. None of it is the user's fault or of use to them; note it, and take
/// the rules' advice.
pub fn read(answer: &[u8], model: &str, brief: &Brief<'_>) -> Result<Advice, AnswerError> {
    let (least, most) = counts(brief.subject).ok_or(AnswerError::NoRoom)?;
    let content = form::content(answer)?;
    let said = form::said(&content)?;
    if !(least..=most).contains(&said.alerts.len()) {
        let found = said.alerts.len();
        return Err(AnswerError::Count { found, least, most });
    }
    check::text(&said.summary, MOST_SUMMARY_CHARS).map_err(AnswerError::Summary)?;
    Ok(Advice {
        analysis: brief.analysis.clone(),
        summary: said.summary,
        proposals: check::alerts(said.alerts, model, brief)?,
    })
}

/// Why an answer is not taken. No text of the model's is repeated.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum AnswerError {
    /// It is longer than anything that is asked for.
    #[error("the answer has {0} bytes; at most {MAX_ANSWER_BYTES} are read")]
    TooLong(usize),
    /// It is not what `/chat/completions` answers.
    #[error("the answer is no chat completion: {0}; check analyst.base_url")]
    NoCompletion(&'static str),
    /// The model refused.
    #[error("the model refused to answer")]
    Refused,
    /// The model, or the server, stopped before the end.
    #[error("the answer is not finished ({0}); allow more tokens, or take another model")]
    Unfinished(Unfinished),
    /// The content is no JSON.
    #[error("what the model said is no JSON; take a server that enforces response_format")]
    NotJson,
    /// The content is JSON of another form than the schema's.
    #[error("{at} {fault}; take a server that enforces response_format")]
    Form {
        /// Where: `alerts[1].threshold`.
        at: String,
        /// Reads on from that.
        fault: &'static str,
    },
    /// Too few or too many alerts.
    #[error("the model proposed {found} alerts where {least} to {most} were asked for")]
    Count {
        /// How many it proposed.
        found: usize,
        /// How few are asked for.
        least: usize,
        /// How many are asked for at most.
        most: usize,
    },
    /// The summary is no plain text.
    #[error("the summary {0}")]
    Summary(TextFault),
    /// An alert is not to be had.
    #[error("alert {}: {fault}", place + 1)]
    Alert {
        /// Which one, counted from 0.
        place: usize,
        /// What is wrong with it.
        fault: AlertFault,
    },
    /// The plan has no room for alerts.
    #[error("the account's plan has no room for another alert; there is nothing to ask")]
    NoRoom,
}

/// Why an answer ends before its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unfinished {
    /// It may have no more tokens.
    Length,
    /// The server's filter cut it.
    Filter,
}

impl std::fmt::Display for Unfinished {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Length => "it reached the limit of tokens",
            Self::Filter => "the server's content filter cut it",
        })
    }
}

/// What is wrong with an alert that a model proposed.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum AlertFault {
    /// The condition was not offered.
    #[error("its condition was not offered")]
    NotOffered,
    /// The role was not offered.
    #[error("its role was not offered for the intention")]
    NoSuchRole,
    /// A price level on the wrong side for its role.
    #[error("its level is on the wrong side of the price for its role")]
    Misplaced,
    /// A level within a day's noise.
    #[error("its level is nearer than {0:.4} of the price, which is a day's noise")]
    TooNear(f64),
    /// A level beyond reach.
    #[error("its level is farther than a factor of {0:.2} from the price, which the stock does not cover in a month")]
    TooFar(f64),
    /// A threshold that says nothing.
    #[error("its threshold is out of {0}")]
    Threshold(&'static str),
    /// It repeats an earlier one.
    #[error("it says the same as alert {}", .0 + 1)]
    Repeats(usize),
    /// Its rationale is no plain text.
    #[error("its rationale {0}")]
    Rationale(TextFault),
    /// A user's request for it would be refused, or it holds already.
    #[error("{0}")]
    Refused(#[from] Refusal),
}

impl AnswerError {
    /// A word for counting.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::TooLong(_) => "too_long",
            Self::NoCompletion(_) => "no_completion",
            Self::Refused => "refused",
            Self::Unfinished(_) => "unfinished",
            Self::NotJson => "not_json",
            Self::Form { .. } => "form",
            Self::Count { .. } => "count",
            Self::Summary(_) => "summary",
            Self::Alert {
                fault: AlertFault::Refused(Refusal::Fulfilled(_)),
                ..
            } => "fulfilled",
            Self::Alert { .. } => "alert",
            Self::NoRoom => "no_room",
        }
    }
}
