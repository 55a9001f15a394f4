//! API keys.

use jiff::Timestamp;
use uuid::Uuid;

use super::AccountId;

/// API key id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ApiKeyId(pub Uuid);

/// An API key. Only its hash is stored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ApiKey {
    /// Unique id.
    pub id: ApiKeyId,
    /// Owning account.
    pub account: AccountId,
    /// Name given by the owner.
    pub name: String,
    /// First characters of the key, so that the owner can recognise it.
    pub prefix: String,
    /// SHA-256 of the key.
    pub hash: [u8; 32],
    /// Names of the scopes.
    pub scopes: Vec<String>,
    /// Creation time.
    pub created_at: Timestamp,
    /// Time of last use, to the minute or so.
    pub last_used_at: Option<Timestamp>,
}
