//! Requests that may be repeated.

use jiff::Timestamp;

use uuid::Uuid;

use super::AccountId;

/// The sender of a request that may be repeated: an account, or a digest that stands for a client without one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RequesterId(pub Uuid);

impl From<AccountId> for RequesterId {
    fn from(account: AccountId) -> Self {
        Self(account.0)
    }
}

/// A request that its sender may repeat, and wants done once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RepeatableRequest {
    /// The sender.
    pub requester: RequesterId,
    /// SHA-256 of its route and the key that its sender gave it.
    pub key_hash: [u8; 32],
    /// SHA-256 of its body.
    pub body_hash: [u8; 32],
}

/// The right and the duty to answer a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Claim {
    pub(crate) requester: RequesterId,
    pub(crate) key_hash: [u8; 32],
    pub(crate) begun_at: Timestamp,
}

/// What a request was answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FirstAnswer {
    /// The status.
    pub status: u16,
    /// The body.
    pub body: Vec<u8>,
}

/// What became of a try to claim a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Claimed {
    /// It is the first: it is to be done.
    First(Claim),
    /// It was done before.
    Answered(FirstAnswer),
    /// It is being done.
    Unfinished {
        /// Since when.
        since: Timestamp,
    },
    /// The key was used with another body.
    OfAnotherBody,
}
