//! From an unchecked draft to a proposal that can be created as it is.
//!
//! The rules and the language model both write an [`AlertDraft`], which may contain anything.
//! [`AlertDraft::into_proposal`] is the only way to a [`Proposal`]: the reader of users' requests reads its body, the
//! plan must allow the condition, and the condition must not hold already.

use alerts::request::{RequestError, parse_create};
use alerts::{Channel, Condition, ConditionKind, NewAlert, plan};
use serde_json::{Map, Value, json};

use crate::condition_state::ConditionState;
use crate::{AnalysisSubject, Role};

/// An unchecked idea of an alert.
#[derive(Clone, PartialEq, Debug)]
pub struct AlertDraft {
    /// The purpose of the alert.
    pub role: Role,
    /// The condition.
    pub kind: ConditionKind,
    /// The threshold, in the form of a request.
    pub threshold: Option<Value>,
    /// The parameters of the condition.
    pub parameters: Map<String, Value>,
    /// The reason in plain words, with its numbers.
    pub rationale: String,
}

/// An alert that can be created as it is.
#[derive(Clone, PartialEq, Debug)]
pub struct Proposal {
    /// The purpose of the alert.
    pub role: Role,
    /// The reason in plain words, with its numbers; equal to `parameters.rationale`.
    pub rationale: String,
    /// The body of the create request.
    pub body: Value,
    /// The parsed body.
    pub alert: NewAlert,
}

/// The reason why a draft is not a proposal.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum ProposalError {
    /// A user's request with this body would be rejected.
    #[error("{0}")]
    Request(#[from] RequestError),
    /// The plan does not include the condition.
    #[error("{0}")]
    Plan(#[from] plan::PlanLimitError),
    /// The alert would fire at once.
    #[error("{0} already holds at the current price; propose a condition that does not hold yet")]
    AlreadyFulfilled(ConditionKind),
    /// The condition cannot be evaluated for this stock.
    #[error("{0} cannot be evaluated for this stock; propose a condition that its history allows")]
    NotEvaluable(ConditionKind),
}

impl AlertDraft {
    /// Creates a draft without parameters.
    pub(crate) fn new(role: Role, kind: ConditionKind, threshold: Option<Value>, rationale: String) -> Self {
        Self {
            role,
            kind,
            threshold,
            parameters: Map::new(),
            rationale,
        }
    }

    /// Checks the draft. `author` is stored with the alert and tells its owner who proposed it.
    ///
    /// # Errors
    /// [`ProposalError`], if the draft is invalid, not in the plan, already fulfilled or not evaluable.
    pub fn into_proposal(self, subject: &AnalysisSubject<'_>, author: &str) -> Result<Proposal, ProposalError> {
        let Self {
            role,
            kind,
            threshold,
            mut parameters,
            rationale,
        } = self;
        parameters.insert("source".to_owned(), json!("ai"));
        parameters.insert("analyst".to_owned(), json!(author));
        parameters.insert("role".to_owned(), json!(role.name()));
        parameters.insert("rationale".to_owned(), json!(rationale));
        let mut body = Map::new();
        body.insert("symbol".to_owned(), json!(subject.symbol.as_str()));
        body.insert("condition".to_owned(), json!(kind.name()));
        if let Some(threshold) = threshold {
            body.insert("threshold".to_owned(), threshold);
        }
        body.insert("parameters".to_owned(), parameters.into());
        let body = Value::Object(body);
        let alert = parse_create(&body, &subject.context)?;
        plan::check_alert_features(subject.plan, kind, Channel::Email)?;
        match ConditionState::of(&alert.condition, subject) {
            ConditionState::Pending => Ok(Proposal {
                role,
                rationale,
                body,
                alert,
            }),
            ConditionState::Fulfilled => Err(ProposalError::AlreadyFulfilled(kind)),
            ConditionState::Unknown => Err(ProposalError::NotEvaluable(kind)),
        }
    }
}

impl Proposal {
    /// Whether this proposal duplicates `other`: both have the same kind of condition and, if both wait for a price,
    /// the prices are within `apart` (a natural logarithm of a ratio of prices).
    #[must_use]
    pub fn repeats(&self, other: &Self, apart: f64) -> bool {
        match (&self.alert.condition, &other.alert.condition) {
            (
                Condition::Price { side, threshold },
                Condition::Price {
                    side: other_side,
                    threshold: other,
                },
            ) => side == other_side && (threshold.as_f64() / other.as_f64()).ln().abs() < apart,
            (one, another) => one.kind() == another.kind(),
        }
    }
}
