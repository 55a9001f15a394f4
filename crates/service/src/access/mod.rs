//! Who asks, and what they may do.

mod accounts;
mod authenticate;
mod keys;
mod scope;

pub use accounts::NewUser;
pub use keys::{CreatedKey, NewKey};
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
