//! Idempotency keys and stored responses.
//!
//! A key is claimed in one statement before the request is processed. Of concurrent requests in any process, one
//! gets the claim. A claim that was abandoned (its process has died) goes to the next request.
//!
//! While a request runs ([`Store::with_claim`]), each of its transactions that has written something also marks the claim. So a
//! process that has lost its claim cannot write any more, and the claim of a request that has written goes to no other request, even if
//! its response was lost.

use std::future::Future;

use jiff::Timestamp;
use uuid::Uuid;

use crate::columns::Table;
use crate::database::query;
use crate::model::{IdempotencyClaim, IdempotencyClaimResult, NewIdempotencyClaim, StoredResponse};
use crate::shared_limits::statement_time;
use crate::sqlite::row;
use crate::unit_of_work::{fetch, write_rows};
use crate::{Store, StoreError, UnitOfWork};

const TABLE: Table = Table("repeatable_requests");

tokio::task_local! {
    /// The claim of the request that the task processes.
    static CLAIM: IdempotencyClaim;
}

/// Returns the claim of the request that the current task processes.
pub(crate) fn current_claim() -> Option<IdempotencyClaim> {
    CLAIM.try_with(|claim| *claim).ok()
}

/// Whether the lease of the node that handles a request lasts, on PostgreSQL.
macro_rules! is_alive {
    () => {
        concat!(
            "EXISTS (SELECT 1 FROM nodes WHERE nodes.id = repeatable_requests.process_id AND nodes.until > ",
            statement_time!(),
            ")"
        )
    };
}

/// Claims a key, unless another claim is respected. `$5` is the claiming process.
macro_rules! claim {
    ($is_dead:expr) => {
        concat!(
            "INSERT INTO repeatable_requests (requester_id, key_hash, body_hash, begun_at, process_id, has_written)
             VALUES ($1, $2, $3, $4, $5, FALSE)
             ON CONFLICT (requester_id, key_hash) DO UPDATE
             SET body_hash = excluded.body_hash, begun_at = excluded.begun_at, process_id = excluded.process_id
             WHERE repeatable_requests.status IS NULL AND NOT repeatable_requests.has_written
             AND (repeatable_requests.begun_at <= $6 OR ",
            $is_dead,
            ")"
        )
    };
}

/// Claims of nodes have a process. The own ones are respected even if this node has no lease at the moment.
const CLAIM_PG: &str = claim!(concat!(
    "(repeatable_requests.process_id <> $5 AND NOT ",
    is_alive!(),
    ")"
));
/// The only process on the file has ended all earlier ones.
const CLAIM_SQLITE: &str = claim!("repeatable_requests.process_id IS NOT $5");

/// Reads an unfinished claim of the same request that is respected. `$4` is the own process.
macro_rules! in_progress {
    ($is_respected:expr) => {
        concat!(
            "SELECT begun_at FROM repeatable_requests
             WHERE requester_id = $1 AND key_hash = $2 AND body_hash = $3 AND status IS NULL AND begun_at > $5 AND ",
            $is_respected
        )
    };
}

const IN_PROGRESS_PG: &str = in_progress!(concat!(
    "(has_written OR process_id IS NULL OR process_id = $4 OR ",
    is_alive!(),
    ")"
));
const IN_PROGRESS_SQLITE: &str = in_progress!("process_id IS $4");

row! {
    struct IdempotencyRow {
        body_hash: Vec<u8>,
        begun_at: i64,
        status: Option<i64>,
        body: Option<Vec<u8>>,
        process_id: Option<Uuid>,
        has_written: bool,
    }
}

impl Store {
    /// Processes a request. Its transactions write only while the claim lasts. Transactions of other tasks, which it may start, are not
    /// part of it.
    pub async fn with_claim<T>(claim: IdempotencyClaim, processing: impl Future<Output = T>) -> T {
        CLAIM.scope(claim, processing).await
    }

    /// Returns whether another claim of the same request would be respected, so that `new` would not be granted.
    pub async fn is_idempotency_key_in_progress(&self, new: &NewIdempotencyClaim) -> Result<bool, StoreError> {
        let key = &new.key;
        let sql = match self.is_shared() {
            true => IN_PROGRESS_PG,
            false => IN_PROGRESS_SQLITE,
        };
        let claimed = query!(
            fetch_optional(i64,),
            self.short_reads(),
            sql,
            key.requester.0,
            &key.key_hash[..],
            &key.body_hash[..],
            new.process,
            new.abandoned.as_microsecond(),
        )?;
        Ok(claimed.is_some())
    }

    /// Deletes keys that were claimed by `before`, with their responses. Returns the number deleted.
    pub async fn purge_idempotency_keys(&self, before: Timestamp) -> Result<u64, StoreError> {
        let transaction = self.commit(before, |&before, unit| {
            Box::pin(async move {
                let sql = "DELETE FROM repeatable_requests WHERE begun_at <= $1";
                Ok(write_rows!(unit, sql, before.as_microsecond()))
            })
        });
        transaction.await
    }
}

impl UnitOfWork {
    /// Claims a key, or returns its state. Claims that are not abandoned and responses that are not forgotten are respected.
    pub async fn claim_idempotency_key(
        &mut self,
        new: &NewIdempotencyClaim,
    ) -> Result<IdempotencyClaimResult, StoreError> {
        let NewIdempotencyClaim { key, process, now, .. } = new;
        let (abandoned, is_pg) = (new.abandoned.as_microsecond(), self.connection.is_pg());
        write_rows!(
            self,
            "DELETE FROM repeatable_requests WHERE begun_at <= $1",
            new.forgotten.as_microsecond(),
        );
        if is_pg && let Some(since) = self.locked_since(new).await? {
            return Ok(IdempotencyClaimResult::InProgress { since });
        }
        let claimed = write_rows!(
            self,
            if is_pg { CLAIM_PG } else { CLAIM_SQLITE },
            key.requester.0,
            &key.key_hash[..],
            &key.body_hash[..],
            now.as_microsecond(),
            process,
            abandoned,
        );
        if claimed > 0 {
            return Ok(IdempotencyClaimResult::First(IdempotencyClaim {
                requester: key.requester,
                key_hash: key.key_hash,
                begun_at: TABLE.instant(now.as_microsecond())?,
            }));
        }
        let sql = "SELECT body_hash, begun_at, status, body, process_id, has_written FROM repeatable_requests
                   WHERE requester_id = $1 AND key_hash = $2";
        let row = fetch!(self, fetch_one IdempotencyRow, sql, key.requester.0, &key.key_hash[..]);
        if row.body_hash != key.body_hash {
            return Ok(IdempotencyClaimResult::BodyMismatch);
        }
        // A node without a lease may still store its response. On SQLite, the process of an earlier claim has ended.
        let has_ended = row.begun_at <= abandoned || (!is_pg && row.process_id != *process);
        Ok(match (row.status, row.body) {
            (Some(status), Some(body)) => IdempotencyClaimResult::Completed(StoredResponse {
                status: TABLE.narrow("status", status)?,
                body,
            }),
            (Some(_), None) => IdempotencyClaimResult::ResponseLost,
            (None, _) if row.has_written && has_ended => IdempotencyClaimResult::ResponseLost,
            (None, _) => IdempotencyClaimResult::InProgress {
                since: TABLE.instant(row.begun_at)?,
            },
        })
    }

    /// Returns when the request began, if another process has locked its claim: it is writing. A claim would wait for it, and so would the
    /// transactions behind it.
    async fn locked_since(&mut self, new: &NewIdempotencyClaim) -> Result<Option<Timestamp>, StoreError> {
        const SELECT: &str = "SELECT begun_at FROM repeatable_requests
                              WHERE requester_id = $1 AND key_hash = $2 AND body_hash = $3 AND status IS NULL";
        const SELECT_FREE: &str = "SELECT begun_at FROM repeatable_requests
                                   WHERE requester_id = $1 AND key_hash = $2 FOR UPDATE SKIP LOCKED";
        let key = &new.key;
        let (requester, hash, body_hash) = (key.requester.0, &key.key_hash[..], &key.body_hash[..]);
        let begun = fetch!(self, fetch_optional(i64,), SELECT, requester, hash, body_hash);
        let Some((begun_at,)) = begun else { return Ok(None) };
        let free = fetch!(self, fetch_optional(i64,), SELECT_FREE, requester, hash);
        match free {
            Some(_) => Ok(None),
            None => Ok(Some(TABLE.instant(begun_at)?)),
        }
    }

    /// Records that the request has written something.
    ///
    /// # Errors
    /// [`StoreError::ClaimLost`] if the claim has ended or belongs to another request.
    pub(crate) async fn mark_written(&mut self, claim: &IdempotencyClaim) -> Result<(), StoreError> {
        let sql = "UPDATE repeatable_requests SET has_written = TRUE
                   WHERE requester_id = $1 AND key_hash = $2 AND begun_at = $3 AND status IS NULL";
        let marked = write_rows!(
            self,
            sql,
            claim.requester.0,
            &claim.key_hash[..],
            claim.begun_at.as_microsecond(),
        );
        if marked == 0 {
            return Err(StoreError::ClaimLost);
        }
        Ok(())
    }

    /// Stores the response to a claimed request. Returns `false` if the claim was lost.
    pub async fn store_response(
        &mut self,
        claim: &IdempotencyClaim,
        response: &StoredResponse,
    ) -> Result<bool, StoreError> {
        let sql = "UPDATE repeatable_requests SET status = $4, body = $5
                   WHERE requester_id = $1 AND key_hash = $2 AND begun_at = $3 AND status IS NULL";
        Ok(write_rows!(
            self,
            sql,
            claim.requester.0,
            &claim.key_hash[..],
            claim.begun_at.as_microsecond(),
            i64::from(response.status),
            &response.body[..],
        ) == 1)
    }

    /// Releases a claim: the request was refused and may be repeated at once.
    pub async fn release_idempotency_key(&mut self, claim: &IdempotencyClaim) -> Result<(), StoreError> {
        let sql = "DELETE FROM repeatable_requests
                   WHERE requester_id = $1 AND key_hash = $2 AND begun_at = $3 AND status IS NULL";
        write_rows!(
            self,
            sql,
            claim.requester.0,
            &claim.key_hash[..],
            claim.begun_at.as_microsecond(),
        );
        Ok(())
    }

    /// Ends the claim of a request that has failed with a status. If the request has written nothing, it may be repeated at once.
    /// Otherwise its response is lost, and `true` is returned.
    pub async fn fail_idempotency_key(&mut self, claim: &IdempotencyClaim, status: u16) -> Result<bool, StoreError> {
        // First, because it waits for a transaction of the request whose commit was not confirmed, and then sees its mark.
        let sql = "DELETE FROM repeatable_requests
                   WHERE requester_id = $1 AND key_hash = $2 AND begun_at = $3 AND status IS NULL AND NOT has_written";
        write_rows!(
            self,
            sql,
            claim.requester.0,
            &claim.key_hash[..],
            claim.begun_at.as_microsecond(),
        );
        let sql = "UPDATE repeatable_requests SET status = $4
                   WHERE requester_id = $1 AND key_hash = $2 AND begun_at = $3 AND status IS NULL";
        let lost = write_rows!(
            self,
            sql,
            claim.requester.0,
            &claim.key_hash[..],
            claim.begun_at.as_microsecond(),
            i64::from(status),
        );
        Ok(lost > 0)
    }
}
