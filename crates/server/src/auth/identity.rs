//! The identity that a request was found to have.

use std::sync::Arc;

use foundation::{Actor, ServiceError};

use crate::error::ApiError;

/// The identity of a request's sender.
#[derive(Clone, Debug)]
pub enum Identity {
    /// No credentials were sent.
    Anonymous,
    /// The credentials belong to an account.
    Authenticated(Arc<Actor>),
    /// An external scheduler with the operator's cron secret. Only the cron routes accept it.
    Scheduler,
    /// The credentials are invalid, contradictory or not allowed here.
    Rejected(ApiError),
    /// Authentication failed for another reason, for example because the database is not available.
    Failed(ApiError),
}

impl Identity {
    pub(super) fn of(actor: Result<Actor, ServiceError>) -> Self {
        match actor {
            Ok(actor) => Self::Authenticated(Arc::new(actor)),
            Err(error @ ServiceError::Unauthenticated(_)) => Self::Rejected(error.into()),
            Err(error) => Self::Failed(error.into()),
        }
    }
}
