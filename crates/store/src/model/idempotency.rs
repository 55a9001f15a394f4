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

/// A claim to the key of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NewIdempotencyClaim {
    /// The request.
    pub key: IdempotencyKey,
    /// The process that claims it: a node of a cluster, or the only process on a SQLite file. `None` if nothing tells whether the
    /// process is alive.
    pub process: Option<Uuid>,
    /// The present time.
    pub now: Timestamp,
    /// Unfinished claims that are not newer count as abandoned.
    pub abandoned: Timestamp,
    /// Responses that are not newer are deleted.
    pub forgotten: Timestamp,
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
    /// The request has changed something, but its response was not stored: the request failed later, its process has died, or it was not
    /// confirmed that the change is on disk.
    ResponseLost,
    /// The key was used with a different body.
    BodyMismatch,
}
