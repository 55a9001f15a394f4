//! Idempotent requests (`Idempotency-Key`): executed once, with a repeatable response.
//!
//! A client that gets no response does not know whether its request was executed, and sends it again. With the same key
//! it gets the first response for 24 hours, also after a restart.
//!
//! Some responses contain secrets that cannot be requested again. So all responses are stored sealed, each for its
//! request. If a response cannot be opened (the vault has another key now), it is not returned, and the request is not
//! executed again, because it was already executed.
//!
//! A repeat waits for the first request. If another process handles it, the repeat reads the stored state until there is a
//! response ([`Idempotency::is_in_progress_elsewhere`]).
//!
//! Each transaction of a request that has changed something also marks the request's lease, and is undone if the lease was lost. A
//! marked request is not executed again, except if it was refused for now. If its response could not be stored, repeats learn that it
//! was lost. If the process dies before the request has changed anything, a repeat is executed: at once if it is known that the process is
//! dead, otherwise after [`LEASE_TIMEOUT`].
//!
//! Market data is pushed in another task, which marks nothing: a push may be repeated.

use std::net::IpAddr;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256};
use store::Store;
use store::model::{
    IdempotencyClaim, IdempotencyClaimResult, IdempotencyKey, NewIdempotencyClaim, RequesterId, StoredResponse,
};
use uuid::Uuid;

use foundation::vault::SecretLocation;
use foundation::{AuthMethod, Ports, ServiceError};
use store::model::{AccountId, NodeId};

/// Retention of responses.
const RESPONSE_RETENTION: SignedDuration = SignedDuration::from_hours(24);

/// Time after which an unfinished request counts as abandoned. Requests must not take longer.
pub const LEASE_TIMEOUT: Duration = Duration::from_secs(120);

/// A request with an idempotency key.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct IdempotentRequest(IdempotencyKey);

impl IdempotentRequest {
    /// Creates a request from the account, the authentication method, the route, the client's key and the body. The
    /// response is returned only for the same credential: another key of the account may have fewer permissions.
    #[must_use]
    pub fn new(account: AccountId, credential: &AuthMethod, route: &str, key: &str, body: &[u8]) -> Self {
        let mut hash = Sha256::new();
        hash.update(credential.id().as_bytes());
        hash.update(route.as_bytes());
        // Routes and keys never contain this byte, so the concatenation is unambiguous.
        hash.update([0]);
        hash.update(key.as_bytes());
        Self(IdempotencyKey {
            requester: account.into(),
            key_hash: hash.finalize().into(),
            body_hash: Sha256::digest(body).into(),
        })
    }

    /// Creates a request without an account, from a client address. Clients behind one address share it; the response
    /// is returned only for the same key, route and body.
    #[must_use]
    pub fn anonymous(address: IpAddr, route: &str, key: &str, body: &[u8]) -> Self {
        let key_hash: [u8; 32] = Sha256::digest([route.as_bytes(), &[0], key.as_bytes()].concat()).into();
        let mut hash = Sha256::new();
        hash.update(b"anonymous");
        match address.to_canonical() {
            IpAddr::V4(address) => hash.update(address.octets()),
            IpAddr::V6(address) => hash.update(address.octets()),
        }
        // The key is part of the digest, so the digest does not reveal the address.
        hash.update(key_hash);
        Self(IdempotencyKey {
            requester: RequesterId(first_16_bytes(hash)),
            key_hash,
            body_hash: Sha256::digest(body).into(),
        })
    }

    /// Returns the sealing location of the response.
    fn location(&self) -> SecretLocation {
        response_location(&self.0)
    }
}

/// Returns the sealing location of a response. The table has no ids, so the row id is derived from the request.
pub(crate) fn response_location(request: &IdempotencyKey) -> SecretLocation {
    let mut hash = Sha256::new();
    hash.update(request.requester.0.as_bytes());
    hash.update(request.key_hash);
    hash.update(request.body_hash);
    SecretLocation {
        table: "repeatable_requests",
        column: "body",
        row: first_16_bytes(hash),
    }
}

fn first_16_bytes(hash: Sha256) -> Uuid {
    let hash: [u8; 32] = hash.finalize().into();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash[..16]);
    Uuid::from_bytes(bytes)
}

/// State of an idempotent request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum IdempotencyState {
    /// First request: execute it with [`IdempotencyLease::execute`], then call [`Idempotency::finish_request`],
    /// [`Idempotency::release_request`] or [`Idempotency::fail_request`].
    Acquired(IdempotencyLease),
    /// Already executed: return this response.
    Completed {
        /// Status code.
        status: u16,
        /// Body.
        body: Vec<u8>,
    },
    /// Already executed, at least in part, but the response was not stored or cannot be opened.
    ResponseLost,
    /// In progress.
    InProgress,
    /// The key was used with another body.
    DifferentBody,
}

/// Exclusive right to execute a request and store its response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IdempotencyLease {
    claim: IdempotencyClaim,
    request: IdempotentRequest,
}

impl IdempotencyLease {
    /// Executes the request. Its transactions fail once the lease is lost.
    pub async fn execute<T>(self, request: impl Future<Output = T>) -> T {
        Store::with_claim(self.claim, request).await
    }
}

/// Use cases for idempotent requests.
#[derive(Clone)]
pub struct Idempotency {
    ports: Ports,
    /// Tells claims of dead processes from those of living ones.
    process: Option<Uuid>,
}

impl Idempotency {
    /// Creates the use cases, in a cluster with the id of its node.
    pub(crate) fn new(ports: &Ports, node: Option<NodeId>) -> Self {
        // Processes that share a database without a cluster have no leases.
        let only_process = || (!ports.store.is_shared()).then(|| ports.random.uuid());
        Self {
            ports: ports.clone(),
            process: node.map(|node| node.0).or_else(only_process),
        }
    }

    /// Acquires a lease on a request, or returns its state.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] or [`ServiceError::StorageUnavailable`] if the database fails.
    pub async fn begin_request(&self, request: IdempotentRequest) -> Result<IdempotencyState, ServiceError> {
        let new = self.claim_of(request);
        let transaction = self
            .ports
            .store
            .commit(new, |new, unit| Box::pin(unit.claim_idempotency_key(new)));
        let claimed = transaction.await?;
        Ok(match claimed {
            IdempotencyClaimResult::First(claim) => IdempotencyState::Acquired(IdempotencyLease { claim, request }),
            IdempotencyClaimResult::Completed(StoredResponse { status, body }) => {
                match self.ports.vault.open(request.location(), &body) {
                    Ok(body) => IdempotencyState::Completed {
                        status,
                        body: body.into_bytes(),
                    },
                    Err(error) => {
                        tracing::warn!(%error, "the stored response to a repeated request cannot be opened");
                        IdempotencyState::ResponseLost
                    }
                }
            }
            IdempotencyClaimResult::ResponseLost => IdempotencyState::ResponseLost,
            IdempotencyClaimResult::InProgress { .. } => IdempotencyState::InProgress,
            IdempotencyClaimResult::BodyMismatch => IdempotencyState::DifferentBody,
        })
    }

    /// Returns whether another process may be handling a request. Always `false` if this is the only process on the database.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] or [`ServiceError::StorageUnavailable`] if the database fails.
    pub async fn is_in_progress_elsewhere(&self, request: IdempotentRequest) -> Result<bool, ServiceError> {
        let store = &self.ports.store;
        if !store.is_shared() {
            return Ok(false);
        }
        Ok(store.is_idempotency_key_in_progress(&self.claim_of(request)).await?)
    }

    /// Returns the claim to a request that begins now.
    fn claim_of(&self, request: IdempotentRequest) -> NewIdempotencyClaim {
        let now = self.ports.clock.now();
        NewIdempotencyClaim {
            key: request.0,
            process: self.process,
            now,
            abandoned: abandoned_before(now),
            forgotten: now.saturating_sub(RESPONSE_RETENTION).unwrap_or(Timestamp::MIN),
        }
    }

    /// Stores the response of a request. Returns `false` if the lease was lost, so that a repeat may get another response.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] or [`ServiceError::StorageUnavailable`] if the database fails;
    /// [`ServiceError::Internal`] if the response is not UTF-8.
    pub async fn finish_request(
        &self,
        lease: IdempotencyLease,
        status: u16,
        body: &[u8],
    ) -> Result<bool, ServiceError> {
        let ports = &self.ports;
        let text = std::str::from_utf8(body).map_err(ServiceError::internal)?;
        let body = ports.vault.seal(&ports.random, lease.request.location(), text);
        let answer = StoredResponse { status, body };
        let transaction = ports.store.commit((lease.claim, answer), |(claim, answer), unit| {
            Box::pin(unit.store_response(claim, answer))
        });
        Ok(transaction.await?)
    }

    /// Ends a lease on a request that failed, so that it is unknown how much of it was executed. If it has changed nothing, it may be
    /// retried at once; otherwise `true` is returned, and repeats learn that its response was lost. `status` is that of its response.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] or [`ServiceError::StorageUnavailable`] if the database fails.
    pub async fn fail_request(&self, lease: IdempotencyLease, status: u16) -> Result<bool, ServiceError> {
        let inputs = (lease.claim, status);
        let transaction = self.ports.store.commit(inputs, |&(ref claim, status), unit| {
            Box::pin(unit.fail_idempotency_key(claim, status))
        });
        Ok(transaction.await?)
    }

    /// Releases a lease. The request was refused and may be retried at once.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] or [`ServiceError::StorageUnavailable`] if the database fails.
    pub async fn release_request(&self, lease: IdempotencyLease) -> Result<(), ServiceError> {
        let store = &self.ports.store;
        let transaction = store.commit(lease.claim, |claim, unit| Box::pin(unit.release_idempotency_key(claim)));
        Ok(transaction.await?)
    }
}

/// Returns the time before which claims are abandoned.
fn abandoned_before(now: Timestamp) -> Timestamp {
    let timeout = SignedDuration::try_from(LEASE_TIMEOUT).unwrap_or(RESPONSE_RETENTION);
    now.saturating_sub(timeout).unwrap_or(Timestamp::MIN)
}
