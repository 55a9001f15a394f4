//! Who asks, and what they may do.
//!
//! Somebody shows who they are ([`Service::authenticate_key`](crate::Service::authenticate_key)) and becomes an
//! [`Actor`], which every use case of theirs is given. What was looked up is remembered for a few seconds
//! (`reception.rs`). Accounts and keys are made by the operator's commands (`accounts.rs`,
//! [`Service::create_key_for`](crate::Service::create_key_for)) and keys by their owners, within their plan
//! (`keys.rs`). Passwords are kept as argon2id (`password.rs`), keys as SHA-256.

mod accounts;
mod authenticate;
mod keys;
mod password;
mod reception;
mod scope;

pub use accounts::NewUser;
pub use keys::{CreatedKey, NewKey};
pub(crate) use reception::Reception;
pub use scope::Scope;

use alerts::Plan;
use jiff::tz::TimeZone;
use store::model::{AccountId, ApiKeyId};

use crate::ServiceError;

/// Who asks.
#[derive(Clone, Debug)]
pub struct Actor {
    /// The account.
    pub account: AccountId,
    /// Its address.
    pub email: String,
    /// What it pays for.
    pub plan: Plan,
    /// Whether its owner operates this service.
    pub is_operator: bool,
    /// The zone its owner's clocks show.
    pub time_zone: TimeZone,
    /// How they have shown who they are.
    pub via: Via,
}

/// How somebody has shown who they are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Via {
    /// By an API key.
    Key {
        /// Which one.
        id: ApiKeyId,
        /// What its owner calls it.
        name: String,
        /// What it may be used for.
        scopes: Vec<Scope>,
    },
}

impl Actor {
    /// Refuses unless the actor may use `scope`.
    ///
    /// # Errors
    /// [`ServiceError::Forbidden`] naming the scope.
    pub fn require(&self, scope: Scope) -> Result<(), ServiceError> {
        match &self.via {
            Via::Key { scopes, .. } if !scopes.contains(&scope) => Err(ServiceError::Forbidden {
                reason: "scope",
                required: Some(scope.name().to_owned()),
                message: format!("this API key lacks the scope {}; use a key that has it", scope.name()),
            }),
            Via::Key { .. } => Ok(()),
        }
    }
}
