//! Accounts, as the operator makes them.

use alerts::Plan;
use store::model::Account;

use crate::{Service, ServiceError};

/// An account to be made by the operator.
#[derive(Clone, Debug)]
pub struct NewUser {
    /// Its address.
    pub email: String,
    /// Its password, 8 characters or more.
    pub password: String,
    /// What it pays for.
    pub plan: Plan,
    /// Whether its owner operates this service.
    pub is_operator: bool,
    /// Whether the address is known to be the owner's.
    pub is_verified: bool,
}

impl Service {
    /// Makes an account.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for an address or a password that will not do, [`ServiceError::Conflict`] if the
    /// address has an account.
    pub async fn create_user(&self, _user: NewUser) -> Result<Account, ServiceError> {
        todo!()
    }

    /// Puts an account on another plan.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] if the address has no account.
    pub async fn set_plan(&self, _email: &str, _plan: Plan) -> Result<Account, ServiceError> {
        todo!()
    }
}
