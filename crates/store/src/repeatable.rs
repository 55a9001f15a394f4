//! Requests that may be repeated, and what the first was answered.
//!
//! A request is claimed before it is worked on, in one statement: of those that come at once, from whichever process, one
//! gets the claim. A claim that nobody has finished for too long (its process died) goes to the next who asks, and whoever
//! comes back late with an answer to it finds that it is not theirs any more.

use jiff::Timestamp;

use crate::columns::Table;
use crate::model::{Claim, Claimed, FirstAnswer, RepeatableRequest};
use crate::unit::{ask, write};
use crate::{Abort, BoxFuture, Store, StoreError, Unit, Work};

const TABLE: Table = Table("repeatable_requests");

#[derive(sqlx_macros::FromRow)]
struct Row {
    body_hash: Vec<u8>,
    begun_at: i64,
    status: Option<i64>,
    body: Option<Vec<u8>>,
}

impl Store {
    /// Removes requests that began by `before`, with their answers. Says how many.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn forget_requests(&self, before: Timestamp) -> Result<u64, StoreError> {
        self.write(Forget(before)).await.map_err(|abort| match abort {
            Abort::Store(error) => error,
            Abort::Refused(never) => match never {},
        })
    }
}

struct Forget(Timestamp);

impl Work for Forget {
    type Done = u64;
    type Refusal = std::convert::Infallible;

    fn run<'a>(&'a self, unit: &'a mut Unit) -> BoxFuture<'a, Result<u64, Abort<Self::Refusal>>> {
        let sql = "DELETE FROM repeatable_requests WHERE begun_at <= $1";
        Box::pin(async move { Ok(write!(unit, sql, self.0.as_microsecond())) })
    }
}

impl Unit {
    /// Claims a request at `now`, if nobody has: neither a claim from after `abandoned` that is not finished yet, nor one
    /// from after `forgotten` that is. What is older than `forgotten` is deleted.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn claim_request(
        &mut self,
        request: &RepeatableRequest,
        now: Timestamp,
        abandoned: Timestamp,
        forgotten: Timestamp,
    ) -> Result<Claimed, StoreError> {
        write!(
            self,
            "DELETE FROM repeatable_requests WHERE begun_at <= $1",
            forgotten.as_microsecond(),
        );
        let claimed = write!(
            self,
            "INSERT INTO repeatable_requests (requester_id, key_hash, body_hash, begun_at) VALUES ($1, $2, $3, $4)
             ON CONFLICT (requester_id, key_hash) DO UPDATE SET body_hash = excluded.body_hash, begun_at = excluded.begun_at
             WHERE repeatable_requests.status IS NULL AND repeatable_requests.begun_at <= $5",
            request.requester.0,
            &request.key_hash[..],
            &request.body_hash[..],
            now.as_microsecond(),
            abandoned.as_microsecond(),
        );
        if claimed > 0 {
            return Ok(Claimed::First(Claim {
                requester: request.requester,
                key_hash: request.key_hash,
                begun_at: TABLE.instant(now.as_microsecond())?,
            }));
        }
        let sql = "SELECT body_hash, begun_at, status, body FROM repeatable_requests
                   WHERE requester_id = $1 AND key_hash = $2";
        let row = ask!(self, fetch_one Row, sql, request.requester.0, &request.key_hash[..]);
        if row.body_hash != request.body_hash {
            return Ok(Claimed::OfAnotherBody);
        }
        let Some(status) = row.status else {
            return Ok(Claimed::Unfinished {
                since: TABLE.instant(row.begun_at)?,
            });
        };
        Ok(Claimed::Answered(FirstAnswer {
            status: TABLE.narrow("status", status)?,
            body: row.body.unwrap_or_default(),
        }))
    }

    /// Keeps the answer to a claimed request. `false`: the claim is somebody else's by now.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn finish_request(&mut self, claim: &Claim, answer: &FirstAnswer) -> Result<bool, StoreError> {
        let sql = "UPDATE repeatable_requests SET status = $4, body = $5
                   WHERE requester_id = $1 AND key_hash = $2 AND begun_at = $3 AND status IS NULL";
        Ok(write!(
            self,
            sql,
            claim.requester.0,
            &claim.key_hash[..],
            claim.begun_at.as_microsecond(),
            i64::from(answer.status),
            &answer.body[..],
        ) == 1)
    }

    /// Gives a claim up: the request was not done, and may be tried again at once.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn release_request(&mut self, claim: &Claim) -> Result<(), StoreError> {
        let sql = "DELETE FROM repeatable_requests
                   WHERE requester_id = $1 AND key_hash = $2 AND begun_at = $3 AND status IS NULL";
        write!(
            self,
            sql,
            claim.requester.0,
            &claim.key_hash[..],
            claim.begun_at.as_microsecond(),
        );
        Ok(())
    }
}
