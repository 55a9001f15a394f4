//! Requests that may be repeated (`Idempotency-Key`): done once, answered alike.
//!
//! Whoever does not get an answer does not know whether the request was done, and has to send it again. With a key of
//! their own they get the first answer then, for 24 hours, also after a restart.
//!
//! Some answers show a secret, which nobody can ask for again. So all answers are kept sealed, each for the request that
//! it answers; one that does not open any more (the vault has another key now) is not given, and the request is not done
//! again either, because it was done.
//!
//! What is not promised: the answer is kept after what it answers for was done, in a transaction of its own. If the
//! program dies just in between, a repeat is done once more, after [`ABANDONED_AFTER`].

use std::net::IpAddr;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256};
use store::model::{IdempotencyClaim, IdempotencyClaimResult, IdempotencyKey, RequesterId, StoredResponse};
use store::{Abort, BoxFuture, Transaction, UnitOfWork};
use uuid::Uuid;

use crate::vault::Place;
use crate::{AccountId, Ports, ServiceError, Via};

/// How long an answer is kept.
const KEPT_FOR: SignedDuration = SignedDuration::from_hours(24);

/// After so long a request that was not finished is taken for one whose process died. Requests must not take longer.
pub const ABANDONED_AFTER: Duration = Duration::from_secs(120);

/// A request that its sender may repeat.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct IdempotentRequest(IdempotencyKey);

impl IdempotentRequest {
    /// Of an account, what its sender has shown, a route, the sender's key and the body. The first answer is for whoever shows
    /// the same: another key of the account may have no right to what it says.
    #[must_use]
    pub fn new(account: AccountId, shown: &Via, route: &str, key: &str, body: &[u8]) -> Self {
        let mut hash = Sha256::new();
        hash.update(shown.id().as_bytes());
        hash.update(route.as_bytes());
        // Neither a route nor a key has this byte, so no two pairs of them read alike.
        hash.update([0]);
        hash.update(key.as_bytes());
        Self(IdempotencyKey {
            requester: account.into(),
            key_hash: hash.finalize().into(),
            body_hash: Sha256::digest(body).into(),
        })
    }

    /// A request without an account, from a client address. Clients behind one address share it; the first answer is only for
    /// a request with the same key, route and body, whatever of it is secret.
    #[must_use]
    pub fn anonymous(address: IpAddr, route: &str, key: &str, body: &[u8]) -> Self {
        let key_hash: [u8; 32] = Sha256::digest([route.as_bytes(), &[0], key.as_bytes()].concat()).into();
        let mut hash = Sha256::new();
        hash.update(b"anonymous");
        match address.to_canonical() {
            IpAddr::V4(address) => hash.update(address.octets()),
            IpAddr::V6(address) => hash.update(address.octets()),
        }
        // With the key in it, the digest does not tell the address.
        hash.update(key_hash);
        Self(IdempotencyKey {
            requester: RequesterId(first_16_bytes(hash)),
            key_hash,
            body_hash: Sha256::digest(body).into(),
        })
    }

    /// The place of its answer. The table has no ids, so one is derived from the request.
    fn place(&self) -> Place {
        place(&self.0)
    }
}

/// Where the answer to a request is sealed for.
pub(crate) fn place(request: &IdempotencyKey) -> Place {
    let mut hash = Sha256::new();
    hash.update(request.requester.0.as_bytes());
    hash.update(request.key_hash);
    hash.update(request.body_hash);
    Place {
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

/// What is to be done with a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum IdempotencyState {
    /// It is the first: do it, then [`Service::finish_idempotent`] or [`Service::release_idempotent`].
    First(IdempotencyLease),
    /// It was done: answer so again.
    Completed {
        /// The status.
        status: u16,
        /// The body.
        body: Vec<u8>,
    },
    /// It was done, and the answer cannot be read any more.
    Unreadable,
    /// It is being done.
    InProgress,
    /// The key was used for a request with another body.
    BodyMismatch,
}

/// The right and the duty to answer a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IdempotencyLease {
    claim: IdempotencyClaim,
    request: IdempotentRequest,
}

/// Responses that are kept for repeated requests.
#[derive(Clone)]
pub struct Idempotency {
    pub(crate) ports: Ports,
}

impl Idempotency {
    /// Claims a request, or says why there is nothing to do.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] if the database fails.
    pub async fn begin_idempotent(&self, request: IdempotentRequest) -> Result<IdempotencyState, ServiceError> {
        let now = self.ports.clock.now();
        let claimed = self.ports.store.write(Begin { request, now }).await?;
        Ok(match claimed {
            IdempotencyClaimResult::First(claim) => IdempotencyState::First(IdempotencyLease { claim, request }),
            IdempotencyClaimResult::Completed(StoredResponse { status, body }) => {
                match self.ports.vault.open(request.place(), &body) {
                    Ok(body) => IdempotencyState::Completed {
                        status,
                        body: body.into_bytes(),
                    },
                    Err(error) => {
                        tracing::warn!(%error, "the kept answer to a request that was repeated does not open");
                        IdempotencyState::Unreadable
                    }
                }
            }
            IdempotencyClaimResult::InProgress { .. } => IdempotencyState::InProgress,
            IdempotencyClaimResult::BodyMismatch => IdempotencyState::BodyMismatch,
        })
    }

    /// Keeps the answer to a claimed request.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] if the database fails, or the answer is no text.
    pub async fn finish_idempotent(
        &self,
        lease: IdempotencyLease,
        status: u16,
        body: &[u8],
    ) -> Result<(), ServiceError> {
        let ports = &self.ports;
        let text = std::str::from_utf8(body).map_err(ServiceError::internal)?;
        let body = ports.vault.seal(&ports.chance, lease.request.place(), text);
        let answer = StoredResponse { status, body };
        Ok(ports.store.write(End(lease.claim, Some(answer))).await?)
    }

    /// Gives a claim up: the request was not done, and may be tried again at once.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] if the database fails.
    pub async fn release_idempotent(&self, lease: IdempotencyLease) -> Result<(), ServiceError> {
        Ok(self.ports.store.write(End(lease.claim, None)).await?)
    }
}

struct Begin {
    request: IdempotentRequest,
    now: Timestamp,
}

impl Transaction for Begin {
    type Output = IdempotencyClaimResult;
    type Refusal = ServiceError;

    fn run<'a>(
        &'a self,
        unit: &'a mut UnitOfWork,
    ) -> BoxFuture<'a, Result<IdempotencyClaimResult, Abort<ServiceError>>> {
        let before = |duration: SignedDuration| self.now.saturating_sub(duration).unwrap_or(Timestamp::MIN);
        let abandoned = before(SignedDuration::try_from(ABANDONED_AFTER).unwrap_or(KEPT_FOR));
        Box::pin(async move {
            let forgotten = before(KEPT_FOR);
            Ok(unit
                .claim_idempotency_key(&self.request.0, self.now, abandoned, forgotten)
                .await?)
        })
    }
}

struct End(IdempotencyClaim, Option<StoredResponse>);

impl Transaction for End {
    type Output = ();
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<(), Abort<ServiceError>>> {
        Box::pin(async move {
            match &self.1 {
                // If somebody else has the claim by now, their answer is the one that is kept.
                Some(answer) => _ = unit.store_response(&self.0, answer).await?,
                None => unit.release_idempotency_key(&self.0).await?,
            }
            Ok(())
        })
    }
}
