//! Login sessions.

use jiff::Timestamp;
use uuid::Uuid;

use super::{Account, AccountId};

/// Session id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SessionId(pub Uuid);

/// A session. All refresh tokens that descend from one sign-in belong to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UserSession {
    /// Unique id.
    pub id: SessionId,
    /// Owning account.
    pub account: AccountId,
    /// Sign-in time.
    pub created_at: Timestamp,
    /// Time of last use, to the hour or so.
    pub last_seen_at: Timestamp,
    /// Expiry time unless used.
    pub expires_at: Timestamp,
    /// Time at which it was ended.
    pub ended_at: Option<Timestamp>,
}

impl UserSession {
    /// Whether it is valid at `now`.
    #[must_use]
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.ended_at.is_none() && now < self.expires_at
    }
}

/// The result of using a refresh token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RefreshOutcome {
    /// The token was valid, and is used now.
    Valid(Box<(UserSession, Account)>),
    /// The token had been used before. Its session is ended now, because one of the two uses was not the owner's.
    Reused(UserSession),
    /// The token is unknown, or its session is over.
    Unknown,
}
