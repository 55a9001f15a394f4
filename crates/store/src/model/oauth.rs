//! OAuth: clients, grants, authorization codes and tokens.

use jiff::Timestamp;
use uuid::Uuid;

use super::{Account, AccountId};

/// Id of a dynamically registered client.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct OAuthClientId(pub Uuid);

/// A dynamically registered client, as it describes itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RegisteredClient {
    /// Unique id.
    pub id: OAuthClientId,
    /// Client name.
    pub name: String,
    /// Redirect URIs.
    pub redirect_uris: Vec<String>,
    /// Registration time.
    pub created_at: Timestamp,
}

/// Grant id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct GrantId(pub Uuid);

/// The access that an account's owner has granted to a client. When it ends, all its codes and tokens become
/// invalid.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grant {
    /// Unique id.
    pub id: GrantId,
    /// Owning account.
    pub account: AccountId,
    /// Client id: that of a registered client, or the URL of its metadata document.
    pub client_id: String,
    /// Client name.
    pub client_name: String,
    /// Names of the scopes.
    pub scopes: Vec<String>,
    /// Creation time.
    pub created_at: Timestamp,
    /// Time of last use, to the minute or so.
    pub last_used_at: Option<Timestamp>,
    /// Expiry time unless renewed.
    pub expires_at: Timestamp,
    /// Time at which it was ended.
    pub ended_at: Option<Timestamp>,
}

impl Grant {
    /// Whether it is valid at `now`.
    #[must_use]
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.ended_at.is_none() && now < self.expires_at
    }
}

/// An authorization code that a client exchanges for its first tokens. Only its hash is stored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AuthorizationCode {
    /// Hash of the code.
    pub hash: [u8; 32],
    /// Redirect URI to which it was sent.
    pub redirect_uri: String,
    /// PKCE code challenge (S256).
    pub challenge: String,
    /// Expiry time.
    pub expires_at: Timestamp,
}

/// A presented authorization code with its grant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PresentedCode {
    /// The code.
    pub code: AuthorizationCode,
    /// Whether it was used before.
    pub is_used: bool,
    /// Its grant.
    pub grant: Grant,
}

/// New tokens, as hashes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewTokens {
    /// Hash of the access token.
    pub access: [u8; 32],
    /// Scopes.
    pub scopes: Vec<String>,
    /// Expiry time.
    pub expires_at: Timestamp,
    /// Hash of the refresh token.
    pub refresh: [u8; 32],
}

/// A presented access token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PresentedToken {
    /// Scopes.
    pub scopes: Vec<String>,
    /// Expiry time.
    pub expires_at: Timestamp,
    /// Its grant, possibly expired or ended.
    pub grant: Grant,
    /// Its account.
    pub account: Account,
}
