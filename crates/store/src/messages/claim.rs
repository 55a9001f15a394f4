//! Claims messages in the same way as deliveries: looking costs no write, and claims use compare-and-set.

use std::collections::HashMap;
use std::fmt::Write;

use alerts::AlertId;
use sqlx::AssertSqlSafe;
use uuid::Uuid;

use super::TABLE;
use crate::accounts::{AccountRow, account_columns};
use crate::bulk::{Statement, query_many};
use crate::database::dispatch;
use crate::deliveries::into_store_error;
use crate::model::{
    Account, AccountId, ClaimQuery, ClaimedMessage, MessageChannel, MessageContent, MessageDecision, MessageId,
    MessageSettlement, PendingEndpoint,
};
use crate::{Abort, BoxFuture, Store, StoreError, Transaction, UnitOfWork};

/// Walks from each endpoint with pending messages to the next: one index lookup per endpoint.
const PENDING_ENDPOINTS: &str = "WITH RECURSIVE lanes (lane, nth) AS (
        SELECT MIN(lane), CAST(1 AS BIGINT) FROM messages WHERE status = 'pending' AND channel = $1 AND lane > $2
        UNION ALL
        SELECT (SELECT MIN(m.lane) FROM messages m
                WHERE m.status = 'pending' AND m.channel = $1 AND m.lane > lanes.lane), nth + 1
        FROM lanes WHERE lanes.lane IS NOT NULL AND nth < $3)
    SELECT lane,
           (SELECT MIN(m.due_at) FROM messages m
            WHERE m.status = 'pending' AND m.channel = $1 AND m.lane = lanes.lane)
    FROM lanes WHERE lane IS NOT NULL";

/// For SQLite, which has one writer at a time.
const CLAIM: Statement = Statement {
    before: "WITH wanted (seq, lease, now, until) AS (VALUES ",
    columns: 4,
    after: ") UPDATE messages SET lease = wanted.lease, due_at = wanted.until FROM wanted
            WHERE messages.seq = wanted.seq AND status = 'pending' AND due_at <= wanted.now
            RETURNING messages.seq",
};

/// For PostgreSQL: skips rows that another process is claiming.
const CLAIM_SKIP_LOCKED: Statement = Statement {
    before: "WITH wanted (seq, lease, now, until) AS (VALUES ",
    columns: 4,
    after: "), free AS (
                SELECT m.seq FROM messages m JOIN wanted ON m.seq = wanted.seq
                WHERE m.status = 'pending' AND m.due_at <= wanted.now FOR UPDATE OF m SKIP LOCKED)
            UPDATE messages SET lease = wanted.lease, due_at = wanted.until FROM wanted, free
            WHERE messages.seq = wanted.seq AND messages.seq = free.seq
            RETURNING messages.seq",
};

const CLAIMED_MESSAGES: Statement = Statement {
    before: "SELECT m.seq, m.id, m.lease, m.lane, m.kind, m.recipient, m.account_id, a.id AS alert_id, m.admitted_at, m.tries,
             m.created_at, m.content, e.data
             FROM messages m LEFT JOIN alerts a ON a.seq = m.alert_seq LEFT JOIN events e ON e.seq = m.event_seq
             WHERE m.lease IS NOT NULL AND m.seq IN (VALUES ",
    columns: 1,
    after: ")",
};

const OWNER_ACCOUNTS: Statement = Statement {
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
    /// `None` for a message without content, because its event is gone.
    fn into_claimed(self, owners: &HashMap<AccountId, Account>) -> Result<Option<ClaimedMessage>, StoreError> {
        let content = match (self.content, self.data) {
            (Some(sealed), _) => MessageContent::Sealed(sealed),
            (None, Some(data)) => MessageContent::Firing(data),
            (None, None) => return Ok(None),
        };
        let account = self.account_id.map(AccountId);
        Ok(Some(ClaimedMessage {
            seq: self.seq,
            id: MessageId(self.id),
            lease: self.lease,
            endpoint: self.lane,
            kind: self.kind,
            recipient: self.recipient,
            owner: account.and_then(|account| owners.get(&account).cloned()),
            account,
            alert: self.alert_id.map(AlertId),
            is_admitted: self.admitted_at.is_some(),
            tries: TABLE.narrow("tries", self.tries)?,
            created_at: TABLE.instant(self.created_at)?,
            content,
        }))
    }
}

impl Store {
    /// Returns a channel's endpoints with pending messages after the endpoint `after`, at most `limit`, each with
    /// the time its first message is due.
    pub async fn pending_message_endpoints(
        &self,
        channel: MessageChannel,
        after: i64,
        limit: u32,
    ) -> Result<Vec<PendingEndpoint>, StoreError> {
        let rows = crate::database::query!(
            fetch_all(i64, Option<i64>),
            &self.pools,
            PENDING_ENDPOINTS,
            channel.name(),
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

    /// Claims due messages in the same way as [`Store::claim_deliveries`].
    pub async fn claim_messages(
        &self,
        channel: MessageChannel,
        query: ClaimQuery,
    ) -> Result<Vec<ClaimedMessage>, StoreError> {
        if query.endpoints.is_empty() || query.max_per_endpoint == 0 || query.max_total == 0 {
            return Ok(Vec::new());
        }
        let text = due_query(channel, &query, self.pools.is_pg());
        // All parameters are our own numbers and are part of the text, so caching the prepared statement is useless.
        let found: Vec<(i64,)> = dispatch!(&self.pools, pool => {
            sqlx::query_as(AssertSqlSafe(text)).persistent(false).fetch_all(pool).await?
        });
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let mut seqs: Vec<i64> = found.into_iter().map(|(seq,)| seq).collect();
        seqs.sort_unstable();
        let (now, until) = (query.now.as_microsecond(), query.until.as_microsecond());
        let claim = ClaimMessages {
            seqs,
            lease: query.lease,
            now,
            until,
        };
        let claimed = self.write(claim).await.map_err(into_store_error)?;
        let rows = query_many!(ClaimedRow, &self.pools, CLAIMED_MESSAGES, &claimed, |query, seq| query
            .bind(*seq))?;
        // If this took longer than the lease, another process has them.
        let rows: Vec<ClaimedRow> = rows.into_iter().filter(|row| row.lease == query.lease).collect();
        let owners = self.owners(&rows).await?;
        let mut messages = Vec::with_capacity(rows.len());
        let mut without_content = Vec::new();
        for row in rows {
            let (seq, lease) = (row.seq, row.lease);
            match row.into_claimed(&owners)? {
                Some(message) => messages.push(message),
                None => without_content.push(MessageSettlement {
                    seq,
                    lease,
                    outcome: Some("void".to_owned()),
                    provider_id: None,
                    decision: MessageDecision::Failed,
                }),
            }
        }
        if !without_content.is_empty() {
            self.settle_messages(channel, without_content, query.now).await?;
        }
        messages.sort_unstable_by_key(|message| message.seq);
        Ok(messages)
    }

    async fn owners(&self, rows: &[ClaimedRow]) -> Result<HashMap<AccountId, Account>, StoreError> {
        let mut ids: Vec<Uuid> = rows.iter().filter_map(|row| row.account_id).collect();
        ids.sort_unstable();
        ids.dedup();
        let found = query_many!(AccountRow, &self.pools, OWNER_ACCOUNTS, &ids, |query, id| query
            .bind(*id))?;
        let accounts = found.into_iter().map(|row| {
            let account = Account::try_from(row)?;
            Ok((account.id, account))
        });
        accounts.collect()
    }
}

fn due_query(channel: MessageChannel, query: &ClaimQuery, is_pg: bool) -> String {
    let mut values = String::with_capacity(query.endpoints.len() * 24);
    for (index, endpoint) in query.endpoints.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        // Writing to a string cannot fail. The explicit cast is required because PostgreSQL infers the column type
        // from the first row.
        let _ = write!(values, "{comma}(CAST('{endpoint}' AS BIGINT),{index})");
    }
    let (now, max_per_endpoint, max_total) = (query.now.as_microsecond(), query.max_per_endpoint, query.max_total);
    let waiting = format!(
        "SELECT x.seq FROM messages x
         WHERE x.status = 'pending' AND x.channel = '{}' AND x.lane = lanes.lane AND x.due_at <= {now}
         ORDER BY x.due_at LIMIT {max_per_endpoint}",
        channel.name()
    );
    let join = if is_pg {
        format!("CROSS JOIN LATERAL ({waiting}) m")
    } else {
        format!("CROSS JOIN messages m WHERE m.seq IN ({waiting})")
    };
    format!(
        "WITH lanes (lane, place) AS (VALUES {values})
         SELECT CAST(m.seq AS BIGINT) FROM lanes {join} ORDER BY lanes.place LIMIT {max_total}"
    )
}

/// Claims messages that are still unclaimed.
struct ClaimMessages {
    seqs: Vec<i64>,
    lease: i64,
    now: i64,
    until: i64,
}

impl Transaction for ClaimMessages {
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
