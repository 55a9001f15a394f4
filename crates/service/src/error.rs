//! Why a use case refuses.

use std::collections::BTreeMap;

use alerts::plan::PlanLimitError;
use alerts::request::{FieldErrors, RequestError};
use alerts::transition::TransitionError;
use market::Symbol;
use store::{Abort, StoreError};

/// For each field at fault what is wrong with it and how to mend it.
pub type Fields = BTreeMap<String, Vec<String>>;

/// Why a use case refuses. The texts may be shown to the user.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The body is JSON, but no object.
    #[error("{0}")]
    Malformed(String),
    /// What was sent is wrong in content.
    #[error("{message}")]
    Invalid {
        /// All of it in one line.
        message: String,
        /// What is wrong, field by field.
        fields: Fields,
    },
    /// Nobody is known by what was sent to show who asks.
    #[error("{0}")]
    Unauthenticated(String),
    /// Who asks may not do this.
    #[error("{message}")]
    Forbidden {
        /// For programs: `scope`, `plan`, `session_required`, `operator`.
        reason: &'static str,
        /// What it takes: the scope's or the plan's name.
        required: Option<String>,
        /// For people.
        message: String,
    },
    /// There is no such thing, or it belongs to somebody else.
    #[error("{}", not_found(.0))]
    NotFound(&'static str),
    /// Neither the catalog nor a source knows the stock.
    #[error("{}", unknown_stock(*.symbol, .candidates))]
    UnknownStock {
        /// The symbol of the request.
        symbol: Symbol,
        /// Stocks with a similar symbol or name, the best match first.
        candidates: Vec<StockCandidate>,
    },
    /// There is such a thing already.
    #[error("{0}")]
    Conflict(String),
    /// It was tried too often.
    #[error("{message}")]
    TooMany {
        /// For people.
        message: String,
        /// After how many seconds it may be tried again.
        retry_after_s: u64,
    },
    /// It cannot be done now, but can be later.
    #[error("{0}")]
    Unavailable(String),
    /// Too much of this is under way at the moment.
    #[error("{message}")]
    Overloaded {
        /// For people.
        message: String,
        /// Seconds until it is worth another try.
        retry_after_s: u64,
    },
    /// The database is away or takes no writes, and may be back soon. The cause is only logged.
    #[error("{}", storage_message(.0))]
    StorageUnavailable(#[source] StoreError),
    /// A fault of this program or its database. What happened is for the log only.
    #[error("an internal error occurred; try again, and contact the operator if it happens again")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// The message for a missing resource.
fn not_found(what: &str) -> String {
    match what {
        "market data" => {
            "this service has no market data yet, so it knows no stock; the operator has to connect a source \
                          or push data (docs/data-sources.md)"
                .to_owned()
        }
        _ => format!("there is no such {what}; check its {}", key_of(what)),
    }
}

/// A stock that a request may have meant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StockCandidate {
    /// Its symbol.
    pub symbol: Symbol,
    /// The company's name.
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

/// The message to users when the database is away.
const fn storage_message(error: &StoreError) -> &'static str {
    match error {
        StoreError::Unconfirmed(_) => {
            "the storage of this service failed, and it is not known whether the change was saved; look before you repeat it"
        }
        _ => "the storage of this service is not available at the moment; try again in a few seconds",
    }
}

/// By what a thing is asked for.
fn key_of(what: &str) -> &'static str {
    match what {
        "account" => "address",
        "token" => "characters",
        _ => "id",
    }
}

impl ServiceError {
    /// One field is at fault.
    #[must_use]
    pub fn field(name: &str, fault: impl Into<String>) -> Self {
        Self::fields(BTreeMap::from([(name.to_owned(), vec![fault.into()])]))
    }

    /// These fields are at fault.
    #[must_use]
    pub fn fields(fields: Fields) -> Self {
        let lines = fields
            .iter()
            .flat_map(|(name, faults)| faults.iter().map(move |fault| format!("{name}: {fault}")));
        Self::Invalid {
            message: lines.collect::<Vec<_>>().join(" | "),
            fields,
        }
    }

    /// A fault of this program.
    #[must_use]
    pub fn internal(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Internal(source.into())
    }
}

impl From<FieldErrors> for ServiceError {
    fn from(faults: FieldErrors) -> Self {
        Self::Invalid {
            message: faults.to_string(),
            fields: faults
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
            RequestError::Invalid(faults) => faults.into(),
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
            TransitionError::CannotPause(_)
            | TransitionError::NotVerified
            | TransitionError::CannotVerify(_)
            | TransitionError::ReminderPassed(_)
            | TransitionError::NotActive(_) => Self::field("status", refused.to_string()),
        }
    }
}

impl From<StoreError> for ServiceError {
    fn from(error: StoreError) -> Self {
        if error.is_unavailable() {
            Self::StorageUnavailable(error)
        } else {
            Self::internal(error)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_fields_at_fault_are_told_in_one_line() {
        let error = ServiceError::fields(BTreeMap::from([
            ("password".to_owned(), vec!["is short".to_owned()]),
            ("email".to_owned(), vec!["is none".to_owned()]),
        ]));
        assert_eq!(error.to_string(), "email: is none | password: is short");
    }

    #[test]
    fn what_is_missing_says_by_what_it_is_found() {
        assert_eq!(
            ServiceError::NotFound("alert").to_string(),
            "there is no such alert; check its id"
        );
    }

    #[test]
    fn an_unknown_stock_is_named_with_its_candidates() {
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
    fn only_a_missing_price_is_worth_another_try() {
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
    fn a_database_that_is_away_is_unavailable_and_a_broken_row_is_internal() {
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
    fn an_unconfirmed_commit_says_that_its_outcome_is_unknown() {
        let source = std::sync::Arc::new(sqlx::Error::WorkerCrashed);
        let unknown = ServiceError::from(StoreError::Unconfirmed(source)).to_string();
        assert!(unknown.contains("not known whether"), "{unknown}");
    }

    #[test]
    fn what_went_wrong_inside_is_not_shown() {
        let error = ServiceError::internal("table alerts is on fire");
        assert!(!error.to_string().contains("fire"), "{error}");
    }
}
