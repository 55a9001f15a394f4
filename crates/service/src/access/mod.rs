//! Authentication, authorization, accounts and API keys.
//!
//! A request presents a credential (API key, access token or session cookie, `authenticate.rs`) and becomes an
//! [`Actor`], the first argument of the use cases. Lookups are cached for a few seconds (`credential_cache.rs`). This
//! service signs the access tokens (`tokens.rs`); see [`identity`](crate::identity) for sessions. Operators create
//! accounts and keys by command ([`Accounts::create_account`], [`Accounts::create_api_key_for_email`]); owners create
//! keys within their plan (`keys.rs`). Passwords are stored as argon2id hashes (`password.rs`), keys as SHA-256 hashes.
//!
//! All functions that use the database return [`ServiceError::StorageUnavailable`] or [`ServiceError::Internal`] if it
//! fails.

pub(crate) mod accounts;
pub(crate) mod authenticate;
mod credential_cache;
mod downgrade;
mod hashing;
mod key_request;
mod keys;
pub(crate) mod password;
mod scope;
mod tokens;

pub use accounts::{Accounts, NewAccount};
pub use authenticate::Authenticator;
pub(crate) use credential_cache::CredentialCache;
pub use keys::{ApiKeyParams, CreatedApiKey};
pub use scope::Scope;
pub use store::model::ApiKey;
pub(crate) use tokens::AccessTokens;
pub use tokens::{ACCESS_TOKEN_LIFETIME, PublicKey};

use alerts::Plan;
use jiff::tz::TimeZone;
use store::model::{AccountId, ApiKeyId, GrantId, SessionId};
use uuid::Uuid;

use crate::ServiceError;

/// The authenticated caller of a use case.
#[derive(Clone, Debug)]
pub struct Actor {
    /// The account.
    pub account: AccountId,
    /// Email address.
    pub email: String,
    /// Plan.
    pub plan: Plan,
    /// Whether the account has operator rights.
    pub is_operator: bool,
    /// Time zone of the account's owner.
    pub time_zone: TimeZone,
    /// Authentication method.
    pub auth_method: AuthMethod,
}

/// Authentication method of a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AuthMethod {
    /// An API key.
    ApiKey {
        /// Key id.
        id: ApiKeyId,
        /// Name of the key.
        name: String,
        /// Scopes of the key.
        scopes: Vec<Scope>,
    },
    /// An OAuth access token.
    Grant {
        /// Grant id.
        id: GrantId,
        /// Name of the OAuth client.
        client: String,
        /// Scopes of the token.
        scopes: Vec<Scope>,
    },
    /// A session.
    Session {
        /// Session id.
        id: SessionId,
        /// Credential of the session.
        credential: CredentialKind,
    },
}

impl AuthMethod {
    /// Returns the id of the key, the grant or the session.
    pub(crate) const fn id(&self) -> Uuid {
        match self {
            Self::ApiKey { id, .. } => id.0,
            Self::Grant { id, .. } => id.0,
            Self::Session { id, .. } => id.0,
        }
    }
}

/// Kind of session credential.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CredentialKind {
    /// The session cookie, which browsers send automatically.
    Cookie,
    /// An access token.
    Token,
}

impl Actor {
    /// Checks that the actor has `scope`.
    ///
    /// # Errors
    /// [`ServiceError::Forbidden`] with the missing scope.
    pub fn require(&self, scope: Scope) -> Result<(), ServiceError> {
        match &self.auth_method {
            AuthMethod::ApiKey { scopes, .. } if !scopes.contains(&scope) => Err(ServiceError::Forbidden {
                reason: "scope",
                required: Some(scope.name().to_owned()),
                message: format!("this API key lacks the scope {}; use a key that has it", scope.name()),
            }),
            AuthMethod::Grant { scopes, .. } if !scopes.contains(&scope) => Err(ServiceError::Forbidden {
                reason: "scope",
                required: Some(scope.name().to_owned()),
                message: format!(
                    "this app lacks the scope {}; connect it again and allow that scope",
                    scope.name()
                ),
            }),
            AuthMethod::Session { .. } if !self.is_operator && !Scope::PUBLIC.contains(&scope) => {
                Err(ServiceError::Forbidden {
                    reason: "operator",
                    required: Some(scope.name().to_owned()),
                    message: "only operators of this service may do this".to_owned(),
                })
            }
            AuthMethod::ApiKey { .. } | AuthMethod::Grant { .. } | AuthMethod::Session { .. } => Ok(()),
        }
    }
}
