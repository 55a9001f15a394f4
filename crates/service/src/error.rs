//! Why a use case refuses.

use std::collections::BTreeMap;

use alerts::plan::PlanRefusal;
use alerts::request::{Faults, RequestError};
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
    #[error("there is no such {0}; check its id")]
    NotFound(&'static str),
    /// There is such a thing already.
    #[error("{0}")]
    Conflict(String),
    /// It cannot be done now, but can be later.
    #[error("{0}")]
    Unavailable(String),
    /// A fault of this program or its database. What happened is for the log only.
    #[error("something went wrong on our side; try again, and tell the operator if it happens again")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl ServiceError {
    /// One field is at fault.
    #[must_use]
    pub fn field(name: &str, fault: impl Into<String>) -> Self {
        let fault = fault.into();
        Self::Invalid {
            message: format!("{name}: {fault}"),
            fields: BTreeMap::from([(name.to_owned(), vec![fault])]),
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
