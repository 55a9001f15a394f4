//! Why a use case refuses.

use std::collections::BTreeMap;

use alerts::plan::PlanRefusal;
use alerts::request::{Faults, RequestError};
use alerts::transition::Refused;
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
    #[error("there is no such {0}; check its {key}", key = key_of(.0))]
    NotFound(&'static str),
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
    /// A fault of this program or its database. What happened is for the log only.
    #[error("something went wrong on our side; try again, and tell the operator if it happens again")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// By what a thing is asked for.
fn key_of(what: &str) -> &'static str {
    match what {
        "stock" => "symbol",
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

impl From<Faults> for ServiceError {
    fn from(faults: Faults) -> Self {
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

impl From<PlanRefusal> for ServiceError {
    fn from(refusal: PlanRefusal) -> Self {
        Self::Forbidden {
            reason: refusal.reason(),
            required: Some(refusal.required().name().to_owned()),
            message: refusal.to_string(),
        }
    }
}

impl From<Refused> for ServiceError {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::NoPrice => Self::Unavailable(refused.to_string()),
            Refused::NoInitialPrice => Self::field("condition", refused.to_string()),
            Refused::CannotPause(_)
            | Refused::NotVerified
            | Refused::CannotVerify(_)
            | Refused::ReminderPassed(_)
            | Refused::NotActive(_) => Self::field("status", refused.to_string()),
        }
    }
}

impl From<StoreError> for ServiceError {
    fn from(error: StoreError) -> Self {
        Self::internal(error)
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
            ServiceError::NotFound("stock").to_string(),
            "there is no such stock; check its symbol"
        );
        assert_eq!(
            ServiceError::NotFound("alert").to_string(),
            "there is no such alert; check its id"
        );
    }

    #[test]
    fn only_a_missing_price_is_worth_another_try() {
        use alerts::Status;
        assert!(matches!(
            ServiceError::from(Refused::NoPrice),
            ServiceError::Unavailable(_)
        ));
        let fields = |refused: Refused| match ServiceError::from(refused) {
            ServiceError::Invalid { fields, .. } => fields.into_keys().collect::<Vec<_>>(),
            other => panic!("{other}"),
        };
        assert_eq!(fields(Refused::NoInitialPrice), ["condition"]);
        assert_eq!(fields(Refused::CannotPause(Status::Triggered)), ["status"]);
    }

    #[test]
    fn what_went_wrong_inside_is_not_shown() {
        let error = ServiceError::internal("table alerts is on fire");
        assert!(!error.to_string().contains("fire"), "{error}");
    }
}
