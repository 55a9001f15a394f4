//! The authenticated caller of a use case, and how it authenticated.

use alerts::Plan;
use jiff::tz::TimeZone;
use store::model::{AccountId, ApiKeyId, EventId, GrantId, SessionId};
use uuid::Uuid;

use crate::{Scope, ServiceError};

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
    /// A link in a message about a firing, by which its recipient acts on the alert.
    MessageLink {
        /// The firing.
        firing: EventId,
    },
}

impl AuthMethod {
    /// Returns the id of the key, the grant, the session or the firing.
    #[must_use]
    pub const fn id(&self) -> Uuid {
        match self {
            Self::ApiKey { id, .. } => id.0,
            Self::Grant { id, .. } => id.0,
            Self::Session { id, .. } => id.0,
            Self::MessageLink { firing } => firing.0,
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
        let name = scope.name();
        let (reason, message) = match &self.auth_method {
            AuthMethod::ApiKey { scopes, .. } if !scopes.contains(&scope) => (
                "scope",
                format!("this API key lacks the scope {name}; use a key that has it"),
            ),
            AuthMethod::Grant { scopes, .. } if !scopes.contains(&scope) => (
                "scope",
                format!("this app lacks the scope {name}; connect it again and allow that scope"),
            ),
            AuthMethod::Session { .. } if !self.is_operator && !Scope::PUBLIC.contains(&scope) => {
                ("operator", "only operators of this service may do this".to_owned())
            }
            AuthMethod::MessageLink { .. } if scope != Scope::AlertsWrite => {
                ("scope", "a link in a message can only change its alert".to_owned())
            }
            AuthMethod::ApiKey { .. }
            | AuthMethod::Grant { .. }
            | AuthMethod::Session { .. }
            | AuthMethod::MessageLink { .. } => return Ok(()),
        };
        Err(ServiceError::Forbidden {
            reason,
            required: Some(name.to_owned()),
            message,
        })
    }
}
