//! Errors of use cases.

use std::collections::BTreeMap;

use alerts::expression::ExpressionError;
use alerts::plan::PlanLimitError;
use alerts::request::{FieldErrors, RequestError};
use alerts::transition::TransitionError;
use market::Symbol;
use store::model::ListError;
use store::{Abort, StoreError};

/// Error messages by field. Each names the problem and the fix.
pub type ErrorsByField = BTreeMap<String, Vec<String>>;

/// Error of a use case. Its message may be shown to the user.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The body is JSON, but not an object, or a token is invalid.
    #[error("{0}")]
    Malformed(String),
    /// Some fields are invalid.
    #[error("{message}")]
    Invalid {
        /// All errors in one line.
        message: String,
        /// Errors by field.
        fields: ErrorsByField,
        /// The error of an expression, with its position.
        expression: Option<Box<ExpressionError>>,
    },
    /// Authentication failed.
    #[error("{0}")]
    Unauthenticated(String),
    /// The actor lacks a permission.
    #[error("{message}")]
    Forbidden {
        /// Reason code: `scope`, `plan`, `session_required`, `operator`.
        reason: &'static str,
        /// The required scope or plan.
        required: Option<String>,
        /// Message for people.
        message: String,
    },
    /// The resource does not exist or belongs to another account.
    #[error("{}", not_found(.0))]
    NotFound(&'static str),
    /// Neither the catalog nor a source has the stock.
    #[error("{}", unknown_stock(*.symbol, .candidates))]
    UnknownStock {
        /// Requested symbol.
        symbol: Symbol,
        /// Stocks with a similar symbol or name, best match first.
        candidates: Vec<StockCandidate>,
    },
    /// Conflict with the current state.
    #[error("{0}")]
    Conflict(String),
    /// Too many requests.
    #[error("{message}")]
    RateLimited {
        /// Message for people.
        message: String,
        /// Retry delay, in seconds.
        retry_after_s: u64,
    },
    /// Temporarily not possible.
    #[error("{0}")]
    Unavailable(String),
    /// Too many concurrent operations.
    #[error("{message}")]
    Overloaded {
        /// Message for people.
        message: String,
        /// Retry delay, in seconds.
        retry_after_s: u64,
    },
    /// The database is unavailable or read-only, possibly for a short time. The cause is only logged.
    #[error("{}", storage_message(.0))]
    StorageUnavailable(#[source] StoreError),
    /// Internal error. The cause is only logged.
    #[error("an internal error occurred; try again, and contact the operator if it happens again")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Returns the message for a missing resource.
fn not_found(what: &str) -> String {
    match what {
        "market data" => {
            "this service has no market data yet; the operator has to connect a source or push data (docs/data-sources.md)"
                .to_owned()
        }
        _ => format!("there is no such {what}; check its {}", key_of(what)),
    }
}

/// A stock that the request may have meant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StockCandidate {
    /// Symbol.
    pub symbol: Symbol,
    /// Company name.
    pub name: String,
}

fn unknown_stock(symbol: Symbol, candidates: &[StockCandidate]) -> String {
    if candidates.is_empty() {
        return format!("there is no such stock: {symbol}; check its symbol");
    }
    let names: Vec<String> = candidates
        .iter()
        .map(|candidate| format!("{} ({})", candidate.symbol, candidate.name))
        .collect();
    format!("there is no such stock: {symbol}; did you mean {}?", names.join(", "))
}

/// Returns the message for an unavailable database.
const fn storage_message(error: &StoreError) -> &'static str {
    match error {
        StoreError::Unconfirmed(_) => {
            "the storage of this service failed, and it is unknown whether the change was saved; check before you repeat it"
        }
        _ => "the storage of this service is not available at the moment; try again in a few seconds",
    }
}

/// Returns the name of a resource's key.
fn key_of(what: &str) -> &'static str {
    match what {
        "account" => "address",
        "token" => "characters",
        _ => "id",
    }
}

impl ServiceError {
    /// Creates an error of one field.
    #[must_use]
    pub fn field(name: &str, error: impl Into<String>) -> Self {
        Self::fields(BTreeMap::from([(name.to_owned(), vec![error.into()])]))
    }

    /// Creates an error of several fields.
    #[must_use]
    pub fn fields(fields: ErrorsByField) -> Self {
        let lines = fields
            .iter()
            .flat_map(|(name, errors)| errors.iter().map(move |error| format!("{name}: {error}")));
        Self::Invalid {
            expression: None,
            message: lines.collect::<Vec<_>>().join(" | "),
            fields,
        }
    }

    /// Creates an internal error.
    #[must_use]
    pub fn internal(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Internal(source.into())
    }
}

impl From<FieldErrors> for ServiceError {
    fn from(errors: FieldErrors) -> Self {
        Self::Invalid {
            expression: errors.expression_error().cloned().map(Box::new),
            message: errors.to_string(),
            fields: errors
                .iter()
                .map(|(field, all)| (field.to_owned(), all.to_vec()))
                .collect(),
        }
    }
}

impl From<RequestError> for ServiceError {
    fn from(error: RequestError) -> Self {
        match error {
            RequestError::NotAnObject { .. } => Self::Malformed(error.to_string()),
            RequestError::Invalid(errors) => errors.into(),
        }
    }
}

impl From<PlanLimitError> for ServiceError {
    fn from(refusal: PlanLimitError) -> Self {
        Self::Forbidden {
            reason: refusal.reason(),
            required: Some(refusal.required().name().to_owned()),
            message: refusal.to_string(),
        }
    }
}

impl From<TransitionError> for ServiceError {
    fn from(refused: TransitionError) -> Self {
        match refused {
            TransitionError::NoPrice => Self::Unavailable(refused.to_string()),
            TransitionError::Expired(_) => Self::field("options.expires_at", refused.to_string()),
            TransitionError::CannotPause(_)
            | TransitionError::CannotPauseExpired
            | TransitionError::NotVerified
            | TransitionError::CannotVerify(_)
            | TransitionError::ReminderPassed(_)
            | TransitionError::NotActive(_) => Self::field("status", refused.to_string()),
        }
    }
}

impl From<StoreError> for ServiceError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::ClaimLost => Self::Conflict(format!("{error}; check its result")),
            _ if error.is_unavailable() => Self::StorageUnavailable(error),
            _ => Self::internal(error),
        }
    }
}

impl From<ListError> for ServiceError {
    fn from(error: ListError) -> Self {
        match error {
            ListError::UnknownItem => Self::field(
                "after",
                "must name an item of this list; pass the one that the last page ended with, or omit it",
            ),
            ListError::Store(error) => error.into(),
        }
    }
}

impl From<Abort<Self>> for ServiceError {
    fn from(abort: Abort<Self>) -> Self {
        match abort {
            Abort::Refused(refusal) => refusal,
            Abort::Store(error) => error.into(),
        }
    }
}

impl From<ServiceError> for Abort<ServiceError> {
    /// Refuses a transaction.
    fn from(refusal: ServiceError) -> Self {
        Self::Refused(refusal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_errors_are_joined_in_one_line() {
        let error = ServiceError::fields(BTreeMap::from([
            ("password".to_owned(), vec!["is short".to_owned()]),
            ("email".to_owned(), vec!["is none".to_owned()]),
        ]));
        assert_eq!(error.to_string(), "email: is none | password: is short");
    }

    #[test]
    fn not_found_message_names_the_key() {
        assert_eq!(
            ServiceError::NotFound("alert").to_string(),
            "there is no such alert; check its id"
        );
    }

    #[test]
    fn unknown_stock_message_lists_candidates() {
        let unknown = |candidates| {
            let symbol = "APPL".parse().unwrap();
            ServiceError::UnknownStock { symbol, candidates }.to_string()
        };
        assert_eq!(unknown(Vec::new()), "there is no such stock: APPL; check its symbol");
        let apple = StockCandidate {
            symbol: "AAPL".parse().unwrap(),
            name: "Apple Inc.".to_owned(),
        };
        assert_eq!(
            unknown(vec![apple]),
            "there is no such stock: APPL; did you mean AAPL (Apple Inc.)?"
        );
    }

    #[test]
    fn missing_price_is_unavailable_and_other_refusals_are_invalid() {
        use alerts::Status;
        assert!(matches!(
            ServiceError::from(TransitionError::NoPrice),
            ServiceError::Unavailable(_)
        ));
        let fields = |refused: TransitionError| match ServiceError::from(refused) {
            ServiceError::Invalid { fields, .. } => fields.into_keys().collect::<Vec<_>>(),
            other => panic!("{other}"),
        };
        assert_eq!(fields(TransitionError::CannotPause(Status::Triggered)), ["status"]);
    }

    #[test]
    fn closed_database_is_unavailable_and_corrupt_row_is_internal() {
        let away = ServiceError::from(StoreError::Closed);
        assert!(matches!(away, ServiceError::StorageUnavailable(_)), "{away:?}");
        assert!(away.to_string().contains("try again"), "{away}");
        let broken = ServiceError::from(StoreError::Corrupt {
            table: "alerts",
            what: "id 7 has no symbol".to_owned(),
        });
        assert!(matches!(broken, ServiceError::Internal(_)), "{broken:?}");
    }

    #[test]
    fn unconfirmed_commit_message_says_outcome_is_unknown() {
        let source = std::sync::Arc::new(sqlx::Error::WorkerCrashed);
        let unknown = ServiceError::from(StoreError::Unconfirmed(source)).to_string();
        assert!(unknown.contains("unknown whether"), "{unknown}");
    }

    #[test]
    fn internal_cause_is_not_shown() {
        let error = ServiceError::internal("table alerts is on fire");
        assert!(!error.to_string().contains("fire"), "{error}");
    }
}
