//! Idempotency keys and stored responses.

use jiff::Timestamp;

use uuid::Uuid;

use super::AccountId;

/// The sender of an idempotent request: an account, or a digest for a client without one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RequesterId(pub Uuid);

impl From<AccountId> for RequesterId {
    fn from(account: AccountId) -> Self {
        Self(account.0)
    }
}

/// Identifies a request that its sender may repeat and that is processed once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct IdempotencyKey {
    /// The sender.
    pub requester: RequesterId,
    /// SHA-256 of the route and the client's `Idempotency-Key`.
    pub key_hash: [u8; 32],
    /// SHA-256 of the request body.
    pub body_hash: [u8; 32],
}

/// The right, and the duty, to answer a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IdempotencyClaim {
    pub(crate) requester: RequesterId,
    pub(crate) key_hash: [u8; 32],
    pub(crate) begun_at: Timestamp,
}

/// The stored response to a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredResponse {
    /// HTTP status.
    pub status: u16,
    /// Response body.
    pub body: Vec<u8>,
}

/// The result of claiming an idempotency key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum IdempotencyClaimResult {
    /// First use: process the request.
    First(IdempotencyClaim),
    /// The request was processed before. Contains the response.
    Completed(StoredResponse),
    /// The request is being processed.
    InProgress {
        /// Start time.
        since: Timestamp,
    },
    /// The key was used with a different body.
    BodyMismatch,
}
