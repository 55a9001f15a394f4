//! Who asks, and what they may do.
//!
//! Somebody shows who they are (an API key, an access token or a session's cookie, `authenticate.rs`) and becomes an
//! [`Actor`], which every use case of theirs is given. What was looked up is remembered for a few seconds
//! (`reception.rs`). Access tokens are signed by this service (`tokens.rs`); how sessions come about is told in
//! [`identity`](crate::identity). Accounts and keys are made by the operator's commands (`accounts.rs`,
//! [`Service::create_key_for`](crate::Service::create_key_for)) and keys by their owners, within their plan
//! (`keys.rs`). Passwords are kept as argon2id (`password.rs`), keys as SHA-256.

pub(crate) mod accounts;
pub(crate) mod authenticate;
mod downgrade;
mod hashing;
mod key_body;
mod keys;
pub(crate) mod password;
mod reception;
mod scope;
mod tokens;

pub use accounts::{Accounts, NewUser};
pub use authenticate::Authenticator;
pub use keys::{CreatedKey, NewKey};
pub(crate) use reception::Reception;
pub use scope::Scope;
pub use store::model::ApiKey;
pub(crate) use tokens::Tokens;
pub use tokens::{PublicKey, TOKEN_LIFE};

use alerts::Plan;
use jiff::tz::TimeZone;
use store::model::{AccountId, ApiKeyId, GrantId, SessionId};
use uuid::Uuid;

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
    /// By what somebody has allowed a program.
    Grant {
        /// Which grant.
        id: GrantId,
        /// What the program calls itself.
        client: String,
        /// What it may do.
        scopes: Vec<Scope>,
    },
    /// By having signed in.
    Session {
        /// Which session.
        id: SessionId,
        /// What of it they have shown.
        by: Shown,
    },
}

impl Via {
    /// The id of the key, the grant or the session.
    pub(crate) const fn id(&self) -> Uuid {
        match self {
            Self::Key { id, .. } => id.0,
            Self::Grant { id, .. } => id.0,
            Self::Session { id, .. } => id.0,
        }
    }
}

/// What somebody shows of their session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shown {
    /// Its cookie, which browsers send by themselves.
    Cookie,
    /// An access token.
    Token,
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
            Via::Grant { scopes, .. } if !scopes.contains(&scope) => Err(ServiceError::Forbidden {
                reason: "scope",
                required: Some(scope.name().to_owned()),
                message: format!(
                    "this app was not allowed {}; connect it again and allow it that",
                    scope.name()
                ),
            }),
            Via::Session { .. } if !self.is_operator && !Scope::PUBLIC.contains(&scope) => {
                Err(ServiceError::Forbidden {
                    reason: "operator",
                    required: Some(scope.name().to_owned()),
                    message: "only operators of this service may do this; ask one of them".to_owned(),
                })
            }
            Via::Key { .. } | Via::Grant { .. } | Via::Session { .. } => Ok(()),
        }
    }
}
