//! Claiming deliveries: which webhooks have something due, and whose turn it is.
//!
//! Looking costs no write. What was found is claimed by compare-and-set, so of two who have found the same, one gets it.

use std::fmt::Write;

use sqlx::AssertSqlSafe;
use uuid::Uuid;

use super::TABLE;
use crate::bulk::{Statement, query_many};
use crate::database::on;
use crate::model::{AccountId, ClaimOrder, ClaimedDelivery, DeliveryId, Lane, SealedSecrets, SignatureForm, WebhookId};
use crate::unit::write;
use crate::{Abort, BoxFuture, Store, StoreError, Unit, Work};

/// Goes from each webhook with something pending to the next one: a look into the index each.
const LANES: &str = "WITH RECURSIVE lanes (webhook_seq, nth) AS (
        SELECT MIN(webhook_seq), CAST(1 AS BIGINT) FROM deliveries WHERE status = 'pending' AND webhook_seq > $1
        UNION ALL
        SELECT (SELECT MIN(d.webhook_seq) FROM deliveries d
                WHERE d.status = 'pending' AND d.webhook_seq > lanes.webhook_seq), nth + 1
        FROM lanes WHERE lanes.webhook_seq IS NOT NULL AND nth < $2)
    SELECT webhook_seq,
           (SELECT MIN(d.due_at) FROM deliveries d WHERE d.status = 'pending' AND d.webhook_seq = lanes.webhook_seq)
    FROM lanes WHERE webhook_seq IS NOT NULL";

/// SQLite has one writer at a time.
const TAKE: Statement = Statement {
    before: "WITH wanted (seq, lease, now, until) AS (VALUES ",
    columns: 4,
    after: ") UPDATE deliveries SET lease = wanted.lease, due_at = wanted.until FROM wanted
            WHERE deliveries.seq = wanted.seq AND status = 'pending' AND due_at <= wanted.now
            RETURNING deliveries.seq",
};

/// On PostgreSQL, what another process is taking at the moment is left to it.
const TAKE_UNLOCKED: Statement = Statement {
    before: "WITH wanted (seq, lease, now, until) AS (VALUES ",
    columns: 4,
    after: "), free AS (
                SELECT d.seq FROM deliveries d JOIN wanted ON d.seq = wanted.seq
                WHERE d.status = 'pending' AND d.due_at <= wanted.now FOR UPDATE OF d SKIP LOCKED)
            UPDATE deliveries SET lease = wanted.lease, due_at = wanted.until FROM wanted, free
            WHERE deliveries.seq = wanted.seq AND deliveries.seq = free.seq
            RETURNING deliveries.seq",
};

const CLAIMED: Statement = Statement {
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
            lane: row.webhook_seq,
            webhook: WebhookId(row.webhook_id),
            account: AccountId(row.account_id),
            url: row.url,
            signature: TABLE.named("signature", &row.signature, SignatureForm::from_name)?,
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
    /// The webhooks after a place in their order that have deliveries waiting, at most `limit`, with when the first is
    /// due; of an inactive webhook, too.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn lanes(&self, after: i64, limit: u32) -> Result<Vec<Lane>, StoreError> {
        let rows = crate::database::query!(fetch_all(i64, Option<i64>), &self.pools, LANES, after, i64::from(limit))?;
        let lanes = rows.into_iter().filter_map(|(webhook, due)| Some((webhook, due?)));
        lanes
            .map(|(webhook, due)| {
                Ok(Lane {
                    webhook,
                    first_due: TABLE.instant(due)?,
                })
            })
            .collect()
    }

    /// Claims deliveries that are due, of each lane those first that are due longest, in the order of the lanes.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn claim_deliveries(&self, order: ClaimOrder) -> Result<Vec<ClaimedDelivery>, StoreError> {
        if order.lanes.is_empty() || order.most_of_each == 0 || order.most == 0 {
            return Ok(Vec::new());
        }
        let mut found = self.due(&order).await?;
        if found.is_empty() {
            return Ok(Vec::new());
        }
        found.sort_unstable();
        let claim = Claim {
            seqs: found,
            lease: order.lease,
            now: order.now.as_microsecond(),
            until: order.until.as_microsecond(),
        };
        let claimed = self.write(claim).await.map_err(never)?;
        let rows = query_many!(ClaimedRow, &self.pools, CLAIMED, &claimed, |query, seq| query
            .bind(*seq))?;
        // Somebody else has them if this took longer than the lease.
        let mine = rows.into_iter().filter(|row| row.lease == order.lease);
        let (mine, vain): (Vec<_>, Vec<_>) = mine.partition(|row| row.is_active);
        if !vain.is_empty() {
            let vain = vain.into_iter().map(|row| row.seq).collect();
            self.write(GiveUp(vain)).await.map_err(never)?;
        }
        let mut mine: Vec<ClaimedDelivery> = mine
            .into_iter()
            .map(ClaimedDelivery::try_from)
            .collect::<Result<_, _>>()?;
        let former = self
            .former_secrets(mine.iter().map(|delivery| delivery.lane).collect())
            .await?;
        for delivery in &mut mine {
            if let Some(secrets) = former.get(&delivery.lane) {
                delivery.secrets.former.clone_from(secrets);
            }
        }
        mine.sort_unstable_by_key(|delivery| delivery.seq);
        Ok(mine)
    }

    /// What is due in some lanes.
    async fn due(&self, order: &ClaimOrder) -> Result<Vec<i64>, StoreError> {
        let text = due_text(order, self.pools.is_pg());
        // All parameters are numbers of ours, and stand in the text; it is not worth keeping.
        let rows: Vec<(i64,)> = on!(&self.pools, pool => {
            sqlx::query_as(AssertSqlSafe(text)).persistent(false).fetch_all(pool).await?
        });
        Ok(rows.into_iter().map(|(seq,)| seq).collect())
    }
}

fn due_text(order: &ClaimOrder, is_pg: bool) -> String {
    let mut lanes = String::with_capacity(order.lanes.len() * 12);
    for (place, lane) in order.lanes.iter().enumerate() {
        let comma = if place == 0 { "" } else { "," };
        // Writing to a text cannot fail.
        let _ = std::write!(lanes, "{comma}({lane},{place})");
    }
    let (now, each, most) = (order.now.as_microsecond(), order.most_of_each, order.most);
    let waiting = format!(
        "SELECT x.seq FROM deliveries x
         WHERE x.status = 'pending' AND x.webhook_seq = lanes.webhook_seq AND x.due_at <= {now}
         ORDER BY x.due_at LIMIT {each}"
    );
    // SQLite finds rows by their numbers, PostgreSQL joins what depends on a row.
    let join = if is_pg {
        format!("CROSS JOIN LATERAL ({waiting}) d")
    } else {
        format!("CROSS JOIN deliveries d WHERE d.seq IN ({waiting})")
    };
    format!(
        "WITH lanes (webhook_seq, place) AS (VALUES {lanes})
         SELECT CAST(d.seq AS BIGINT) FROM lanes {join} ORDER BY lanes.place LIMIT {most}"
    )
}

pub(crate) fn never(abort: Abort<std::convert::Infallible>) -> StoreError {
    match abort {
        Abort::Store(error) => error,
        Abort::Refused(never) => match never {},
    }
}

/// Takes what nobody else has taken meanwhile.
struct Claim {
    seqs: Vec<i64>,
    lease: i64,
    now: i64,
    until: i64,
}

impl Work for Claim {
    type Done = Vec<i64>;
    type Refusal = std::convert::Infallible;

    fn run<'a>(&'a self, unit: &'a mut Unit) -> BoxFuture<'a, Result<Vec<i64>, Abort<Self::Refusal>>> {
        Box::pin(async move {
            let statement = if unit.link.is_pg() { TAKE_UNLOCKED } else { TAKE };
            let taken = query_many!((i64,), &mut unit.link, statement, &self.seqs, |query, seq| {
                query.bind(*seq).bind(self.lease).bind(self.now).bind(self.until)
            });
            Ok(unit.noted_writing(taken)?.into_iter().map(|(seq,)| seq).collect())
        })
    }
}

/// Gives up what waits for webhooks that were switched off at the very moment when it was made.
struct GiveUp(Vec<i64>);

impl Work for GiveUp {
    type Done = ();
    type Refusal = std::convert::Infallible;

    fn run<'a>(&'a self, unit: &'a mut Unit) -> BoxFuture<'a, Result<(), Abort<Self::Refusal>>> {
        Box::pin(async move {
            for seq in &self.0 {
                let sql = "UPDATE deliveries SET status = 'failed', lease = NULL WHERE seq = $1 AND status = 'pending'";
                write!(unit, sql, seq);
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
    fn lanes_and_limits_stand_in_the_text() {
        let order = ClaimOrder {
            lanes: vec![3, 7],
            most_of_each: 4,
            most: 9,
            now: Timestamp::UNIX_EPOCH,
            until: Timestamp::UNIX_EPOCH,
            lease: 1,
        };
        for is_pg in [false, true] {
            let text = due_text(&order, is_pg);
            assert!(text.contains("(VALUES (3,0),(7,1))") && text.contains("LIMIT 4") && text.ends_with("LIMIT 9"));
        }
    }
}
