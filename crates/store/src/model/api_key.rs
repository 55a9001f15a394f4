//! API keys.

use jiff::Timestamp;
use uuid::Uuid;

use super::AccountId;

/// Which API key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ApiKeyId(pub Uuid);

/// An API key. The key itself is nowhere; only what it hashes to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ApiKey {
    /// Which one.
    pub id: ApiKeyId,
    /// Whose.
    pub account: AccountId,
    /// What its owner calls it.
    pub name: String,
    /// Its first characters, so that its owner can tell it from others.
    pub prefix: String,
    /// SHA-256 of the key.
    pub hash: [u8; 32],
    /// The names of its scopes.
    pub scopes: Vec<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last used, to the minute or so.
    pub last_used_at: Option<Timestamp>,
}
