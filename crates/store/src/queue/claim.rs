//! Claims rows.
//!
//! Looking for due rows costs no write. Claims use compare-and-set, so of two processes that find the same row, one
//! gets it.

use std::fmt::Write;
use std::time::Duration;

use sqlx::AssertSqlSafe;

use crate::bulk::write_many_returning;
use crate::database::{Either, query};
use crate::messages::FoldingClaim;
use crate::model::{ClaimQuery, MessageChannel, PendingEndpoint, Queue};
use crate::timeouts::with_statement_timeout;
use crate::unit_of_work::fetch;
use crate::{Store, StoreError, UnitOfWork, sqlite};

/// Advisory lock number for claims of messages: "BWCLAIM" and the channel.
const CLAIM_LOCK_ID: i64 = 0x4257_434c_4149_4d00;
/// The pause after a claim of messages that another process has locked out.
const LOCKED_CLAIM_PAUSE: Duration = Duration::from_millis(20);

impl Store {
    /// Returns endpoints with pending rows after the endpoint `after`, at most `limit`, each with the time its first
    /// row is due. Includes endpoints that are inactive.
    pub async fn pending_endpoints(
        &self,
        queue: impl Into<Queue>,
        after: i64,
        limit: u32,
    ) -> Result<Vec<PendingEndpoint>, StoreError> {
        let queue = queue.into();
        let (text, limit) = (AssertSqlSafe(pending_query(queue)), i64::from(limit));
        let rows = query!(fetch_all(i64, Option<i64>), &self.pools, text, after, limit)?;
        let endpoints = rows.into_iter().filter_map(|(endpoint, due)| Some((endpoint, due?)));
        endpoints
            .map(|(endpoint, due)| {
                Ok(PendingEndpoint {
                    endpoint,
                    first_due: queue.table().table.instant(due)?,
                })
            })
            .collect()
    }

    /// Claims due rows: for each endpoint those that are due longest, in the order of the endpoints. With a
    /// `burst_limit`, messages are folded. Returns the `seq` of each row to send.
    pub(crate) async fn claim_rows(
        &self,
        queue: Queue,
        query: &ClaimQuery,
        burst_limit: Option<u32>,
    ) -> Result<Vec<i64>, StoreError> {
        if query.endpoints.is_empty() || query.max_per_endpoint == 0 || query.max_total == 0 {
            return Ok(Vec::new());
        }
        let text = due_query(queue, query, self.pools.is_pg());
        // All parameters are our own numbers and are part of the text, so caching the prepared statement is useless.
        let text = AssertSqlSafe(text);
        let due: Vec<(i64,)> = match &self.pools {
            Either::Lite(pool) => sqlite::query(text).persistent(false).fetch_all(pool).await?,
            Either::Pg(pool) => with_statement_timeout(sqlx::query_as(text).persistent(false).fetch_all(pool)).await?,
        };
        if due.is_empty() {
            return Ok(Vec::new());
        }
        let mut seqs: Vec<i64> = due.into_iter().map(|(seq,)| seq).collect();
        seqs.sort_unstable();
        let inputs = (queue, seqs, query.clone(), burst_limit);
        let transaction = self.commit(inputs, |&(queue, ref seqs, ref query, burst_limit), unit| {
            Box::pin(async move {
                let (Queue::Messages(channel), Some(burst_limit)) = (queue, burst_limit) else {
                    return Ok(Some(unit.claim_seqs(queue, seqs, query).await?));
                };
                if !unit.lock_claims(channel).await? {
                    return Ok(None);
                }
                let claimed = unit.claim_seqs(queue, seqs, query).await?;
                let claim = FoldingClaim::new(channel, query, burst_limit);
                Ok(Some(unit.fold_messages(&claim, claimed).await?))
            })
        });
        if let Some(claimed) = transaction.await? {
            return Ok(claimed);
        }
        // Soon the other process has claimed. It may serve other endpoints, so these are still due.
        tokio::time::sleep(LOCKED_CLAIM_PAUSE).await;
        self.wake_handle(queue).notify_one();
        Ok(Vec::new())
    }
}

impl UnitOfWork {
    async fn claim_seqs(&mut self, queue: Queue, seqs: &[i64], claim: &ClaimQuery) -> Result<Vec<i64>, StoreError> {
        let table = queue.table();
        let statement = if self.connection.is_pg() {
            table.claim_skip_locked
        } else {
            table.claim
        };
        let (now, until) = (claim.now.as_microsecond(), claim.until.as_microsecond());
        let claimed = write_many_returning!(self, (i64,), statement, seqs, |query, seq| {
            query.bind(*seq).bind(claim.lease).bind(now).bind(until)
        });
        Ok(claimed.into_iter().map(|(seq,)| seq).collect())
    }

    /// Excludes other claims of a channel until the end of the transaction, so that two processes together do not send more than one
    /// may. Returns `false` if another process is claiming: waiting for it could deadlock, because the transaction may have taken other
    /// locks before. SQLite has one writer anyway.
    async fn lock_claims(&mut self, channel: MessageChannel) -> Result<bool, StoreError> {
        if self.connection.is_pg() {
            let place = MessageChannel::ALL.iter().position(|other| *other == channel);
            let lock = CLAIM_LOCK_ID + i64::try_from(place.unwrap_or_default()).unwrap_or_default();
            let (is_locked,) = fetch!(self, fetch_one(bool,), "SELECT pg_try_advisory_xact_lock($1)", lock);
            return Ok(is_locked);
        }
        Ok(true)
    }
}

/// Walks from each endpoint with pending rows to the next: one index lookup per endpoint.
fn pending_query(queue: Queue) -> String {
    let (endpoint, table, condition) = (queue.table().endpoint, queue.table().table.0, queue.condition());
    format!(
        "WITH RECURSIVE endpoints (id, nth) AS (
             SELECT MIN({endpoint}), CAST(1 AS BIGINT) FROM {table} WHERE {condition} AND {endpoint} > $1
             UNION ALL
             SELECT (SELECT MIN({endpoint}) FROM {table} WHERE {condition} AND {endpoint} > endpoints.id), nth + 1
             FROM endpoints WHERE endpoints.id IS NOT NULL AND nth < $2)
         SELECT id, (SELECT MIN(due_at) FROM {table} WHERE {condition} AND {endpoint} = endpoints.id)
         FROM endpoints WHERE id IS NOT NULL"
    )
}

fn due_query(queue: Queue, query: &ClaimQuery, is_pg: bool) -> String {
    let mut values = String::with_capacity(query.endpoints.len() * 48);
    for (index, endpoint) in query.endpoints.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        // Writing to a string cannot fail. The explicit cast is required because PostgreSQL infers the column type
        // from the first row.
        let _ = write!(values, "{comma}(CAST('{endpoint}' AS BIGINT),{index})");
    }
    let (now, max_per_endpoint, max_total) = (query.now.as_microsecond(), query.max_per_endpoint, query.max_total);
    let (endpoint, table, condition) = (queue.table().endpoint, queue.table().table.0, queue.condition());
    let due = format!(
        "SELECT seq FROM {table} WHERE {condition} AND {endpoint} = endpoints.id AND due_at <= {now}
         ORDER BY due_at LIMIT {max_per_endpoint}"
    );
    // SQLite finds rows by number; PostgreSQL joins laterally.
    let join = if is_pg {
        format!("CROSS JOIN LATERAL ({due}) q")
    } else {
        format!("CROSS JOIN {table} q WHERE q.seq IN ({due})")
    };
    format!(
        "WITH endpoints (id, place) AS (VALUES {values})
         SELECT CAST(q.seq AS BIGINT) FROM endpoints {join} ORDER BY endpoints.place LIMIT {max_total}"
    )
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn due_query_contains_endpoints_and_limits() {
        let query = ClaimQuery {
            endpoints: vec![3, -7],
            max_per_endpoint: 4,
            max_total: 9,
            now: Timestamp::UNIX_EPOCH,
            until: Timestamp::UNIX_EPOCH,
            lease: 1,
        };
        for (queue, is_pg) in Queue::ALL.into_iter().flat_map(|queue| [(queue, false), (queue, true)]) {
            let text = due_query(queue, &query, is_pg);
            let values = "(VALUES (CAST('3' AS BIGINT),0),(CAST('-7' AS BIGINT),1))";
            assert!(text.contains(values) && text.contains("LIMIT 4") && text.ends_with("LIMIT 9"));
        }
    }
}
