//! Sessions: somebody has signed in, and stays so for a while.

use jiff::Timestamp;
use uuid::Uuid;

use super::{Account, AccountId};

/// Which session.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SessionId(pub Uuid);

/// A session. It is the family of the refresh tokens that were made in it, one of the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Session {
    /// Which one.
    pub id: SessionId,
    /// Whose.
    pub account: AccountId,
    /// When they signed in.
    pub created_at: Timestamp,
    /// When it was last used, to the hour or so.
    pub last_seen_at: Timestamp,
    /// When it ends unless it is used before.
    pub expires_at: Timestamp,
    /// When it was ended.
    pub ended_at: Option<Timestamp>,
}

impl Session {
    /// Whether it is good for anything at `now`.
    #[must_use]
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.ended_at.is_none() && now < self.expires_at
    }
}

/// What became of a refresh token that was shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refreshed {
    /// It was good, and is used up now.
    Good(Box<(Session, Account)>),
    /// It had been used before: its session is ended now, whoever has the others.
    Reused(Session),
    /// There is no such token, or its session is over.
    Unknown,
}
