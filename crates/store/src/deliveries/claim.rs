//! Claims deliveries.
//!
//! Looking for due deliveries costs no write. Claims use compare-and-set, so of two processes that find the same
//! delivery, one gets it.

use std::fmt::Write;

use sqlx::AssertSqlSafe;
use uuid::Uuid;

use super::TABLE;
use crate::bulk::{Statement, query_many};
use crate::database::dispatch;
use crate::model::{
    AccountId, ClaimQuery, ClaimedDelivery, DeliveryId, PendingEndpoint, SealedSecrets, SignatureForm, WebhookId,
};
use crate::unit_of_work::write_rows;
use crate::{Abort, BoxFuture, Store, StoreError, Transaction, UnitOfWork};

/// Walks from each webhook with pending deliveries to the next: one index lookup per webhook.
const PENDING_ENDPOINTS: &str = "WITH RECURSIVE lanes (webhook_seq, nth) AS (
        SELECT MIN(webhook_seq), CAST(1 AS BIGINT) FROM deliveries WHERE status = 'pending' AND webhook_seq > $1
        UNION ALL
        SELECT (SELECT MIN(d.webhook_seq) FROM deliveries d
                WHERE d.status = 'pending' AND d.webhook_seq > lanes.webhook_seq), nth + 1
        FROM lanes WHERE lanes.webhook_seq IS NOT NULL AND nth < $2)
    SELECT webhook_seq,
           (SELECT MIN(d.due_at) FROM deliveries d WHERE d.status = 'pending' AND d.webhook_seq = lanes.webhook_seq)
    FROM lanes WHERE webhook_seq IS NOT NULL";

/// For SQLite, which has one writer at a time.
const CLAIM: Statement = Statement {
    before: "WITH wanted (seq, lease, now, until) AS (VALUES ",
    columns: 4,
    after: ") UPDATE deliveries SET lease = wanted.lease, due_at = wanted.until FROM wanted
            WHERE deliveries.seq = wanted.seq AND status = 'pending' AND due_at <= wanted.now
            RETURNING deliveries.seq",
};

/// For PostgreSQL: skips rows that another process is claiming.
const CLAIM_SKIP_LOCKED: Statement = Statement {
    before: "WITH wanted (seq, lease, now, until) AS (VALUES ",
    columns: 4,
    after: "), free AS (
                SELECT d.seq FROM deliveries d JOIN wanted ON d.seq = wanted.seq
                WHERE d.status = 'pending' AND d.due_at <= wanted.now FOR UPDATE OF d SKIP LOCKED)
            UPDATE deliveries SET lease = wanted.lease, due_at = wanted.until FROM wanted, free
            WHERE deliveries.seq = wanted.seq AND deliveries.seq = free.seq
            RETURNING deliveries.seq",
};

const CLAIMED_DELIVERIES: Statement = Statement {
    before:
        "SELECT d.seq, d.id, d.lease, d.webhook_seq, w.id AS webhook_id, w.account_id, w.url, w.signature, w.secret,
             d.tries, d.created_at, w.is_active, e.data
             FROM deliveries d JOIN webhooks w ON w.seq = d.webhook_seq JOIN events e ON e.seq = d.event_seq
             WHERE d.lease IS NOT NULL AND d.seq IN (VALUES ",
    columns: 1,
    after: ")",
};

#[derive(sqlx_macros::FromRow)]
struct ClaimedRow {
    seq: i64,
    id: Uuid,
    lease: i64,
    webhook_seq: i64,
    webhook_id: Uuid,
    account_id: Uuid,
    url: String,
    signature: String,
    secret: Option<Vec<u8>>,
    tries: i64,
    created_at: i64,
    is_active: bool,
    data: String,
}

impl TryFrom<ClaimedRow> for ClaimedDelivery {
    type Error = StoreError;

    fn try_from(row: ClaimedRow) -> Result<Self, StoreError> {
        Ok(Self {
            seq: row.seq,
            id: DeliveryId(row.id),
            lease: row.lease,
            endpoint: row.webhook_seq,
            webhook: WebhookId(row.webhook_id),
            account: AccountId(row.account_id),
            url: row.url,
            signature: TABLE.parse("signature", &row.signature, SignatureForm::from_name)?,
            secrets: SealedSecrets {
                current: row.secret.unwrap_or_default(),
                former: Vec::new(),
            },
            tries: TABLE.narrow("tries", row.tries)?,
            created_at: TABLE.instant(row.created_at)?,
            data: row.data,
        })
    }
}

impl Store {
    /// Returns webhooks with pending deliveries after the webhook `after`, at most `limit`, each with the time its
    /// first delivery is due. Includes inactive webhooks.
    pub async fn pending_delivery_endpoints(&self, after: i64, limit: u32) -> Result<Vec<PendingEndpoint>, StoreError> {
        let rows = crate::database::query!(
            fetch_all(i64, Option<i64>),
            &self.pools,
            PENDING_ENDPOINTS,
            after,
            i64::from(limit)
        )?;
        let endpoints = rows.into_iter().filter_map(|(endpoint, due)| Some((endpoint, due?)));
        endpoints
            .map(|(endpoint, due)| {
                Ok(PendingEndpoint {
                    endpoint,
                    first_due: TABLE.instant(due)?,
                })
            })
            .collect()
    }

    /// Claims due deliveries: for each endpoint those that are due longest, in the order of the endpoints.
    pub async fn claim_deliveries(&self, query: ClaimQuery) -> Result<Vec<ClaimedDelivery>, StoreError> {
        if query.endpoints.is_empty() || query.max_per_endpoint == 0 || query.max_total == 0 {
            return Ok(Vec::new());
        }
        let mut found = self.due_seqs(&query).await?;
        if found.is_empty() {
            return Ok(Vec::new());
        }
        found.sort_unstable();
        let claim = ClaimDeliveries {
            seqs: found,
            lease: query.lease,
            now: query.now.as_microsecond(),
            until: query.until.as_microsecond(),
        };
        let claimed = self.write(claim).await.map_err(into_store_error)?;
        let rows = query_many!(ClaimedRow, &self.pools, CLAIMED_DELIVERIES, &claimed, |query, seq| {
            query.bind(*seq)
        })?;
        // If this took longer than the lease, another process has them.
        let held = rows.into_iter().filter(|row| row.lease == query.lease);
        let (active, undeliverable): (Vec<_>, Vec<_>) = held.partition(|row| row.is_active);
        if !undeliverable.is_empty() {
            let undeliverable = undeliverable.into_iter().map(|row| row.seq).collect();
            self.write(FailDeliveries(undeliverable))
                .await
                .map_err(into_store_error)?;
        }
        let mut deliveries: Vec<ClaimedDelivery> = active
            .into_iter()
            .map(ClaimedDelivery::try_from)
            .collect::<Result<_, _>>()?;
        let former = self
            .former_secrets(deliveries.iter().map(|delivery| delivery.endpoint).collect())
            .await?;
        for delivery in &mut deliveries {
            if let Some(secrets) = former.get(&delivery.endpoint) {
                delivery.secrets.former.clone_from(secrets);
            }
        }
        deliveries.sort_unstable_by_key(|delivery| delivery.seq);
        Ok(deliveries)
    }

    /// Returns the `seq` of each due delivery of the queried endpoints.
    async fn due_seqs(&self, query: &ClaimQuery) -> Result<Vec<i64>, StoreError> {
        let text = due_query(query, self.pools.is_pg());
        // All parameters are our own numbers and are part of the text, so caching the prepared statement is useless.
        let rows: Vec<(i64,)> = dispatch!(&self.pools, pool => {
            sqlx::query_as(AssertSqlSafe(text)).persistent(false).fetch_all(pool).await?
        });
        Ok(rows.into_iter().map(|(seq,)| seq).collect())
    }
}

fn due_query(query: &ClaimQuery, is_pg: bool) -> String {
    let mut values = String::with_capacity(query.endpoints.len() * 12);
    for (index, endpoint) in query.endpoints.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        // Writing to a string cannot fail.
        let _ = std::write!(values, "{comma}({endpoint},{index})");
    }
    let (now, max_per_endpoint, max_total) = (query.now.as_microsecond(), query.max_per_endpoint, query.max_total);
    let waiting = format!(
        "SELECT x.seq FROM deliveries x
         WHERE x.status = 'pending' AND x.webhook_seq = lanes.webhook_seq AND x.due_at <= {now}
         ORDER BY x.due_at LIMIT {max_per_endpoint}"
    );
    // SQLite finds rows by number; PostgreSQL joins laterally.
    let join = if is_pg {
        format!("CROSS JOIN LATERAL ({waiting}) d")
    } else {
        format!("CROSS JOIN deliveries d WHERE d.seq IN ({waiting})")
    };
    format!(
        "WITH lanes (webhook_seq, place) AS (VALUES {values})
         SELECT CAST(d.seq AS BIGINT) FROM lanes {join} ORDER BY lanes.place LIMIT {max_total}"
    )
}

pub(crate) fn into_store_error(abort: Abort<std::convert::Infallible>) -> StoreError {
    match abort {
        Abort::Store(error) => error,
        Abort::Refused(never) => match never {},
    }
}

/// Claims deliveries that are still unclaimed.
struct ClaimDeliveries {
    seqs: Vec<i64>,
    lease: i64,
    now: i64,
    until: i64,
}

impl Transaction for ClaimDeliveries {
    type Output = Vec<i64>;
    type Refusal = std::convert::Infallible;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<Vec<i64>, Abort<Self::Refusal>>> {
        Box::pin(async move {
            let statement = if unit.connection.is_pg() {
                CLAIM_SKIP_LOCKED
            } else {
                CLAIM
            };
            let claimed = query_many!((i64,), &mut unit.connection, statement, &self.seqs, |query, seq| {
                query.bind(*seq).bind(self.lease).bind(self.now).bind(self.until)
            });
            Ok(unit.track_write(claimed)?.into_iter().map(|(seq,)| seq).collect())
        })
    }
}

/// Fails deliveries whose webhook was disabled while they were created.
struct FailDeliveries(Vec<i64>);

impl Transaction for FailDeliveries {
    type Output = ();
    type Refusal = std::convert::Infallible;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<(), Abort<Self::Refusal>>> {
        Box::pin(async move {
            for seq in &self.0 {
                let sql = "UPDATE deliveries SET status = 'failed', lease = NULL WHERE seq = $1 AND status = 'pending'";
                write_rows!(unit, sql, seq);
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn due_query_contains_endpoints_and_limits() {
        let query = ClaimQuery {
            endpoints: vec![3, 7],
            max_per_endpoint: 4,
            max_total: 9,
            now: Timestamp::UNIX_EPOCH,
            until: Timestamp::UNIX_EPOCH,
            lease: 1,
        };
        for is_pg in [false, true] {
            let text = due_query(&query, is_pg);
            assert!(text.contains("(VALUES (3,0),(7,1))") && text.contains("LIMIT 4") && text.ends_with("LIMIT 9"));
        }
    }
}
