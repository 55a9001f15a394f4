//! Idempotency keys and stored responses.
//!
//! A key is claimed in one statement before the request is processed. Of concurrent requests in any process, one
//! gets the claim. A claim that was abandoned (its process crashed) goes to the next request. A process that
//! finishes an abandoned claim too late finds that it has lost it.

use jiff::Timestamp;

use crate::columns::Table;
use crate::database::query;
use crate::model::{IdempotencyClaim, IdempotencyClaimResult, IdempotencyKey, StoredResponse};
use crate::sqlite::row;
use crate::unit_of_work::{fetch, write_rows};
use crate::{Store, StoreError, UnitOfWork};

const TABLE: Table = Table("repeatable_requests");

row! {
    struct IdempotencyRow {
        body_hash: Vec<u8>,
        begun_at: i64,
        status: Option<i64>,
        body: Option<Vec<u8>>,
    }
}

impl Store {
    /// Returns whether a key is claimed and has no response yet. Claims not newer than `abandoned` do not count.
    pub async fn is_idempotency_key_in_progress(
        &self,
        key: &IdempotencyKey,
        abandoned: Timestamp,
    ) -> Result<bool, StoreError> {
        let sql = "SELECT begun_at FROM repeatable_requests
                   WHERE requester_id = $1 AND key_hash = $2 AND status IS NULL AND begun_at > $3";
        let claimed = query!(
            fetch_optional(i64,),
            self.short_reads(),
            sql,
            key.requester.0,
            &key.key_hash[..],
            abandoned.as_microsecond(),
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
    /// Claims a key at `now`. Claims newer than `abandoned` and responses newer than `forgotten` are respected. Keys
    /// older than `forgotten` are deleted.
    pub async fn claim_idempotency_key(
        &mut self,
        key: &IdempotencyKey,
        now: Timestamp,
        abandoned: Timestamp,
        forgotten: Timestamp,
    ) -> Result<IdempotencyClaimResult, StoreError> {
        write_rows!(
            self,
            "DELETE FROM repeatable_requests WHERE begun_at <= $1",
            forgotten.as_microsecond(),
        );
        let claimed = write_rows!(
            self,
            "INSERT INTO repeatable_requests (requester_id, key_hash, body_hash, begun_at) VALUES ($1, $2, $3, $4)
             ON CONFLICT (requester_id, key_hash) DO UPDATE SET body_hash = excluded.body_hash, begun_at = excluded.begun_at
             WHERE repeatable_requests.status IS NULL AND repeatable_requests.begun_at <= $5",
            key.requester.0,
            &key.key_hash[..],
            &key.body_hash[..],
            now.as_microsecond(),
            abandoned.as_microsecond(),
        );
        if claimed > 0 {
            return Ok(IdempotencyClaimResult::First(IdempotencyClaim {
                requester: key.requester,
                key_hash: key.key_hash,
                begun_at: TABLE.instant(now.as_microsecond())?,
            }));
        }
        let sql = "SELECT body_hash, begun_at, status, body FROM repeatable_requests
                   WHERE requester_id = $1 AND key_hash = $2";
        let row = fetch!(self, fetch_one IdempotencyRow, sql, key.requester.0, &key.key_hash[..]);
        if row.body_hash != key.body_hash {
            return Ok(IdempotencyClaimResult::BodyMismatch);
        }
        let Some(status) = row.status else {
            return Ok(IdempotencyClaimResult::InProgress {
                since: TABLE.instant(row.begun_at)?,
            });
        };
        Ok(IdempotencyClaimResult::Completed(StoredResponse {
            status: TABLE.narrow("status", status)?,
            body: row.body.unwrap_or_default(),
        }))
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

    /// Releases a claim: the request was not processed and may be retried at once.
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
}
