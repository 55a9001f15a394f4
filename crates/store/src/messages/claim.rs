//! Claiming messages, as deliveries are claimed: looking costs no write, and what was found is taken by compare-and-set.

use std::collections::HashMap;
use std::fmt::Write;

use alerts::AlertId;
use sqlx::AssertSqlSafe;
use uuid::Uuid;

use super::TABLE;
use crate::accounts::{AccountRow, account_columns};
use crate::bulk::{Statement, query_many};
use crate::database::on;
use crate::deliveries::never;
use crate::model::{
    Account, AccountId, ClaimOrder, ClaimedMessage, Lane, MessageChannel, MessageId, MessageSettlement, MessageVerdict,
    Said,
};
use crate::{Abort, BoxFuture, Store, StoreError, Unit, Work};

/// Goes from each lane with something pending to the next one: a look into the index each.
const LANES: &str = "WITH RECURSIVE lanes (lane, nth) AS (
        SELECT MIN(lane), CAST(1 AS BIGINT) FROM messages WHERE status = 'pending' AND channel = $1 AND lane > $2
        UNION ALL
        SELECT (SELECT MIN(m.lane) FROM messages m
                WHERE m.status = 'pending' AND m.channel = $1 AND m.lane > lanes.lane), nth + 1
        FROM lanes WHERE lanes.lane IS NOT NULL AND nth < $3)
    SELECT lane,
           (SELECT MIN(m.due_at) FROM messages m
            WHERE m.status = 'pending' AND m.channel = $1 AND m.lane = lanes.lane)
    FROM lanes WHERE lane IS NOT NULL";

/// SQLite has one writer at a time.
const TAKE: Statement = Statement {
    before: "WITH wanted (seq, lease, now, until) AS (VALUES ",
    columns: 4,
    after: ") UPDATE messages SET lease = wanted.lease, due_at = wanted.until FROM wanted
            WHERE messages.seq = wanted.seq AND status = 'pending' AND due_at <= wanted.now
            RETURNING messages.seq",
};

/// On PostgreSQL, what another process is taking at the moment is left to it.
const TAKE_UNLOCKED: Statement = Statement {
    before: "WITH wanted (seq, lease, now, until) AS (VALUES ",
    columns: 4,
    after: "), free AS (
                SELECT m.seq FROM messages m JOIN wanted ON m.seq = wanted.seq
                WHERE m.status = 'pending' AND m.due_at <= wanted.now FOR UPDATE OF m SKIP LOCKED)
            UPDATE messages SET lease = wanted.lease, due_at = wanted.until FROM wanted, free
            WHERE messages.seq = wanted.seq AND messages.seq = free.seq
            RETURNING messages.seq",
};

const CLAIMED: Statement = Statement {
    before: "SELECT m.seq, m.id, m.lease, m.lane, m.kind, m.recipient, m.account_id, a.id AS alert_id, m.admitted_at, m.tries,
             m.created_at, m.content, e.data
             FROM messages m LEFT JOIN alerts a ON a.seq = m.alert_seq LEFT JOIN events e ON e.seq = m.event_seq
             WHERE m.lease IS NOT NULL AND m.seq IN (VALUES ",
    columns: 1,
    after: ")",
};

const OWNERS: Statement = Statement {
    before: concat!("SELECT ", account_columns!(), " FROM accounts WHERE id IN (VALUES "),
    columns: 1,
    after: ")",
};

#[derive(sqlx_macros::FromRow)]
struct ClaimedRow {
    seq: i64,
    id: Uuid,
    lease: i64,
    lane: i64,
    kind: String,
    recipient: Option<String>,
    account_id: Option<Uuid>,
    alert_id: Option<Uuid>,
    admitted_at: Option<i64>,
    tries: i64,
    created_at: i64,
    content: Option<Vec<u8>>,
    data: Option<String>,
}

impl ClaimedRow {
    /// `None` for a message of which nobody can say what it says: its event is gone.
    fn claimed(self, owners: &HashMap<AccountId, Account>) -> Result<Option<ClaimedMessage>, StoreError> {
        let said = match (self.content, self.data) {
            (Some(sealed), _) => Said::Letter(sealed),
            (None, Some(data)) => Said::Fired(data),
            (None, None) => return Ok(None),
        };
        let account = self.account_id.map(AccountId);
        Ok(Some(ClaimedMessage {
            seq: self.seq,
            id: MessageId(self.id),
            lease: self.lease,
            lane: self.lane,
            kind: self.kind,
            recipient: self.recipient,
            owner: account.and_then(|account| owners.get(&account).cloned()),
            account,
            alert: self.alert_id.map(AlertId),
            is_admitted: self.admitted_at.is_some(),
            tries: TABLE.narrow("tries", self.tries)?,
            created_at: TABLE.instant(self.created_at)?,
            said,
        }))
    }
}

impl Store {
    /// The lanes of a channel after a place in their order in which messages wait, at most `limit`, with when the first is
    /// due.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn message_lanes(
        &self,
        channel: MessageChannel,
        after: i64,
        limit: u32,
    ) -> Result<Vec<Lane>, StoreError> {
        let rows = crate::database::query!(
            fetch_all(i64, Option<i64>),
            &self.pools,
            LANES,
            channel.name(),
            after,
            i64::from(limit)
        )?;
        let lanes = rows.into_iter().filter_map(|(lane, due)| Some((lane, due?)));
        lanes
            .map(|(lane, due)| {
                Ok(Lane {
                    webhook: lane,
                    first_due: TABLE.instant(due)?,
                })
            })
            .collect()
    }

    /// Claims messages that are due, as [`Store::claim_deliveries`] claims deliveries.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn claim_messages(
        &self,
        channel: MessageChannel,
        order: ClaimOrder,
    ) -> Result<Vec<ClaimedMessage>, StoreError> {
        if order.lanes.is_empty() || order.most_of_each == 0 || order.most == 0 {
            return Ok(Vec::new());
        }
        let text = due_text(channel, &order, self.pools.is_pg());
        // All parameters are numbers of ours, and stand in the text; it is not worth keeping.
        let found: Vec<(i64,)> = on!(&self.pools, pool => {
            sqlx::query_as(AssertSqlSafe(text)).persistent(false).fetch_all(pool).await?
        });
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let mut seqs: Vec<i64> = found.into_iter().map(|(seq,)| seq).collect();
        seqs.sort_unstable();
        let (now, until) = (order.now.as_microsecond(), order.until.as_microsecond());
        let claim = Claim {
            seqs,
            lease: order.lease,
            now,
            until,
        };
        let claimed = self.write(claim).await.map_err(never)?;
        let rows = query_many!(ClaimedRow, &self.pools, CLAIMED, &claimed, |query, seq| query
            .bind(*seq))?;
        // Somebody else has them if this took longer than the lease.
        let rows: Vec<ClaimedRow> = rows.into_iter().filter(|row| row.lease == order.lease).collect();
        let owners = self.owners(&rows).await?;
        let mut messages = Vec::with_capacity(rows.len());
        let mut void = Vec::new();
        for row in rows {
            let (seq, lease) = (row.seq, row.lease);
            match row.claimed(&owners)? {
                Some(message) => messages.push(message),
                None => void.push(MessageSettlement {
                    seq,
                    lease,
                    outcome: Some("void".to_owned()),
                    provider_id: None,
                    verdict: MessageVerdict::Failed,
                }),
            }
        }
        if !void.is_empty() {
            self.settle_messages(channel, void, order.now).await?;
        }
        messages.sort_unstable_by_key(|message| message.seq);
        Ok(messages)
    }

    async fn owners(&self, rows: &[ClaimedRow]) -> Result<HashMap<AccountId, Account>, StoreError> {
        let mut ids: Vec<Uuid> = rows.iter().filter_map(|row| row.account_id).collect();
        ids.sort_unstable();
        ids.dedup();
        let found = query_many!(AccountRow, &self.pools, OWNERS, &ids, |query, id| query.bind(*id))?;
        let accounts = found.into_iter().map(|row| {
            let account = Account::try_from(row)?;
            Ok((account.id, account))
        });
        accounts.collect()
    }
}

fn due_text(channel: MessageChannel, order: &ClaimOrder, is_pg: bool) -> String {
    let mut lanes = String::with_capacity(order.lanes.len() * 24);
    for (place, lane) in order.lanes.iter().enumerate() {
        let comma = if place == 0 { "" } else { "," };
        // Writing to a text cannot fail. The type is said because PostgreSQL takes the lanes' from the first of them.
        let _ = write!(lanes, "{comma}(CAST('{lane}' AS BIGINT),{place})");
    }
    let (now, each, most) = (order.now.as_microsecond(), order.most_of_each, order.most);
    let waiting = format!(
        "SELECT x.seq FROM messages x
         WHERE x.status = 'pending' AND x.channel = '{}' AND x.lane = lanes.lane AND x.due_at <= {now}
         ORDER BY x.due_at LIMIT {each}",
        channel.name()
    );
    let join = if is_pg {
        format!("CROSS JOIN LATERAL ({waiting}) m")
    } else {
        format!("CROSS JOIN messages m WHERE m.seq IN ({waiting})")
    };
    format!(
        "WITH lanes (lane, place) AS (VALUES {lanes})
         SELECT CAST(m.seq AS BIGINT) FROM lanes {join} ORDER BY lanes.place LIMIT {most}"
    )
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
