//! The gate: what becomes a proposal.
//!
//! Whoever has an idea, the rules or a language model, writes it down as a [`Draft`], which may say anything. It
//! becomes a [`Proposal`] only here: its body is read by the very reader of users' requests, the plan has to have the
//! condition, and it must not hold already. So a proposal can be created as it is.

use alerts::request::{RequestError, parse_create};
use alerts::{Channel, Condition, ConditionKind, NewAlert, plan};
use serde_json::{Map, Value, json};

use crate::standing::Standing;
use crate::{Role, Subject};

/// An idea of an alert, unchecked.
#[derive(Clone, PartialEq, Debug)]
pub struct Draft {
    /// What it is for.
    pub role: Role,
    /// The condition.
    pub kind: ConditionKind,
    /// The threshold, as a request would have it.
    pub threshold: Option<Value>,
    /// The condition's own parameters.
    pub parameters: Map<String, Value>,
    /// Why, in plain words with the numbers.
    pub rationale: String,
}

/// An alert that can be created as it is.
#[derive(Clone, PartialEq, Debug)]
pub struct Proposal {
    /// What it is for.
    pub role: Role,
    /// Why, in plain words with the numbers; the same as `parameters.rationale`.
    pub rationale: String,
    /// The body of the create request.
    pub body: Value,
    /// The same, read.
    pub alert: NewAlert,
}

/// Why a draft is no proposal.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum Refusal {
    /// A user's request would be refused.
    #[error("{0}")]
    Request(#[from] RequestError),
    /// The plan does not have the condition.
    #[error("{0}")]
    Plan(#[from] plan::PlanRefusal),
    /// It would fire at once.
    #[error("{0} holds already at the current price; propose something that is still to come")]
    Fulfilled(ConditionKind),
    /// Nobody can tell whether it holds.
    #[error("{0} cannot be judged for this stock; propose what its history allows")]
    Blind(ConditionKind),
}

impl Draft {
    /// Checks it. `author` is kept with the alert, so that its owner can see who thought of it.
    ///
    /// # Errors
    /// [`Refusal`]
    pub fn admit(self, subject: &Subject<'_>, author: &str) -> Result<Proposal, Refusal> {
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
        plan::check_terms(subject.plan, kind, Channel::Email)?;
        match Standing::of(&alert.condition, subject) {
            Standing::Waiting => Ok(Proposal {
                role,
                rationale,
                body,
                alert,
            }),
            Standing::Fulfilled => Err(Refusal::Fulfilled(kind)),
            Standing::Blind => Err(Refusal::Blind(kind)),
        }
    }
}

impl Proposal {
    /// Whether it would tell nothing that `other` does not tell: the same kind of condition, and, if both wait for a
    /// price, one within `apart` (a natural logarithm of a ratio of prices).
    #[must_use]
    pub fn repeats(&self, other: &Self, apart: f64) -> bool {
        match (self.alert.condition, other.alert.condition) {
            (
                Condition::Price { side, threshold },
                Condition::Price {
                    side: as_well,
                    threshold: near,
                },
            ) => side == as_well && (threshold.as_f64() / near.as_f64()).ln().abs() < apart,
            (one, another) => one.kind() == another.kind(),
        }
    }
}
