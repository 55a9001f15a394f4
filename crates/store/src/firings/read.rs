//! Reads firings with their times and acknowledgements.

use alerts::AlertId;
use jiff::SignedDuration;
use uuid::Uuid;

use crate::accounts::{AccountRow, account_columns};
use crate::bulk::{Statement, query_many};
use crate::columns::Table;
use crate::database::query;
use crate::model::{
    Account, AccountId, Acknowledgement, EventId, FiringFilter, FiringRecord, FiringTimeline, HistoryPosition,
    ListError, ListRequest, MessageId, Page,
};
use crate::parameters::{Parameter, fetch_with};
use crate::sqlite::row;
use crate::{Store, StoreError};

const TABLE: Table = Table("events");

/// Transactions that write at the same time may have their times in another order than their positions, but not by as much. After a clock
/// that was ahead by more, a list since an instant lacks firings of the time after it.
const MAX_DISORDER: SignedDuration = SignedDuration::from_secs(60);

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT e.seq, e.account_id, e.id, COALESCE((SELECT parents.id FROM alerts parents WHERE parents.seq = a.parent_seq), a.id) AS alert_id, \
             e.data, e.quoted_at, e.at, e.judged_at, e.committed_at, k.at AS acknowledged_at, k.acknowledged_by, k.via \
             FROM events e JOIN alerts a ON a.seq = e.alert_seq LEFT JOIN acknowledgements k ON k.event_seq = e.seq ",
            $rest
        )
    };
}

/// An event has the position of its firing in the history.
const AT_POSITIONS: Statement = Statement {
    before: select!("WHERE e.seq IN (VALUES "),
    columns: 1,
    after: ")",
};

row! {
    struct RecordRow {
        seq: i64,
        account_id: Option<Uuid>,
        id: Uuid,
        alert_id: Uuid,
        data: String,
        quoted_at: Option<i64>,
        at: i64,
        judged_at: Option<i64>,
        committed_at: Option<i64>,
        acknowledged_at: Option<i64>,
        acknowledged_by: Option<String>,
        via: Option<String>,
    }
}

impl TryFrom<RecordRow> for FiringRecord {
    type Error = StoreError;

    fn try_from(row: RecordRow) -> Result<Self, StoreError> {
        let acknowledged = match (row.acknowledged_at, row.acknowledged_by, row.via) {
            (Some(at), Some(by), Some(via)) => Some(Acknowledgement {
                at: TABLE.instant(at)?,
                by,
                via,
            }),
            _ => None,
        };
        Ok(Self {
            id: EventId(row.id),
            alert: AlertId(row.alert_id),
            data: TABLE.object(&row.data)?,
            timeline: FiringTimeline {
                quoted_at: TABLE.optional_instant(row.quoted_at)?,
                received_at: TABLE.instant(row.at)?,
                judged_at: TABLE.optional_instant(row.judged_at)?,
                committed_at: TABLE.optional_instant(row.committed_at)?,
            },
            acknowledged,
        })
    }
}

/// The condition of a list, with its parameters. `$1` is the account.
struct Condition {
    sql: String,
    parameters: Vec<Parameter>,
}

impl Condition {
    fn parameter(&mut self, parameter: Parameter) -> usize {
        self.parameters.push(parameter);
        self.parameters.len()
    }

    fn number(&mut self, number: i64) -> usize {
        self.parameter(Parameter::Number(number))
    }

    fn and(&mut self, sql: &str) {
        self.sql.push_str(" AND ");
        self.sql.push_str(sql);
    }
}

impl Store {
    /// Returns an account's firing.
    pub async fn firing(&self, account: AccountId, id: EventId) -> Result<Option<FiringRecord>, StoreError> {
        let sql = select!("WHERE e.id = $1 AND e.account_id = $2");
        let row = query!(fetch_optional RecordRow, &self.pools, sql, id.0, account.0)?;
        row.map(FiringRecord::try_from).transpose()
    }

    /// Returns an account's firings at some positions of its history, in any order.
    pub async fn firings_at(
        &self,
        account: AccountId,
        positions: &[HistoryPosition],
    ) -> Result<Vec<(HistoryPosition, FiringRecord)>, StoreError> {
        let rows = query_many!(RecordRow, &self.pools, AT_POSITIONS, positions, |query, position| query
            .bind(position.0));
        let own = rows.into_iter().filter(|row| row.account_id == Some(account.0));
        own.map(|row| Ok((HistoryPosition(row.seq), row.try_into()?))).collect()
    }

    /// Returns the account whose alert fired.
    pub async fn account_of_firing(&self, id: EventId) -> Result<Option<Account>, StoreError> {
        let sql = concat!(
            "SELECT ",
            account_columns!(),
            " FROM accounts WHERE id = (SELECT account_id FROM events WHERE id = $1)"
        );
        let row = query!(fetch_optional AccountRow, &self.pools, sql, id.0)?;
        row.map(Account::try_from).transpose()
    }

    /// Returns the firings that a message is about, the first one first.
    pub async fn firings_of_message(&self, message: MessageId) -> Result<Vec<EventId>, StoreError> {
        let sql = "SELECT e.id FROM events e JOIN (
                       SELECT event_seq, seq FROM messages WHERE id = $1
                       UNION ALL SELECT m.event_seq, m.seq FROM messages f JOIN messages m ON m.folded_into = f.seq WHERE f.id = $1
                   ) listed ON e.seq = listed.event_seq ORDER BY listed.seq";
        let found = query!(fetch_all(Uuid,), &self.pools, sql, message.0)?;
        Ok(found.into_iter().map(|(id,)| EventId(id)).collect())
    }

    /// Returns a page of an account's firings, newest first. `None`: the account never had the alert of the filter.
    pub async fn firings(
        &self,
        account: AccountId,
        filter: FiringFilter,
        request: ListRequest<EventId>,
    ) -> Result<Option<Page<FiringRecord>>, ListError> {
        let Some(condition) = self.condition(account, filter).await? else {
            return Ok(None);
        };
        let count = format!("SELECT COUNT(*) FROM events e WHERE {}", condition.sql);
        let total = fetch_with!(&self.pools, (i64,), count, &condition.parameters)?;
        let (total,) = total.first().copied().unwrap_or_default();
        let items = self.page_of_firings(account, condition, request).await?;
        Ok(Some(Page {
            items,
            total: TABLE.narrow("COUNT(*)", total)?,
        }))
    }

    async fn page_of_firings(
        &self,
        account: AccountId,
        mut condition: Condition,
        request: ListRequest<EventId>,
    ) -> Result<Vec<FiringRecord>, ListError> {
        if let Some(after) = request.after {
            let sql = "SELECT seq FROM events WHERE id = $1 AND account_id = $2";
            let found = query!(fetch_optional(i64,), &self.pools, sql, after.0, account.0)?;
            let (seq,) = found.ok_or(ListError::UnknownItem)?;
            let seq = condition.number(seq);
            condition.and(&format!("e.seq < ${seq}"));
        }
        let (limit, offset) = request.limit_and_offset();
        let (limit, offset) = (condition.number(limit), condition.number(offset));
        let page = format!(
            "{} (SELECT e.seq FROM events e WHERE {} ORDER BY e.seq DESC LIMIT ${limit} OFFSET ${offset}) ORDER BY e.seq DESC",
            select!("WHERE e.seq IN"),
            condition.sql
        );
        let rows = fetch_with!(&self.pools, RecordRow, page, &condition.parameters)?;
        let records = rows.into_iter().map(FiringRecord::try_from);
        Ok(records.collect::<Result<_, _>>()?)
    }

    async fn condition(&self, account: AccountId, filter: FiringFilter) -> Result<Option<Condition>, StoreError> {
        let mut condition = Condition {
            sql: "e.account_id = $1".to_owned(),
            parameters: vec![Parameter::Uuid(account.0)],
        };
        if let Some(alert) = filter.alert {
            let sql = "SELECT seq FROM alerts WHERE id = $1 AND account_id = $2";
            let Some((seq,)) = query!(fetch_optional(i64,), &self.pools, sql, alert.0, account.0)? else {
                return Ok(None);
            };
            let seq = condition.number(seq);
            // An event has the position of its firing in the history.
            condition.and(&format!(
                "e.seq IN (SELECT seq FROM history WHERE alert_seq = ${seq} UNION ALL SELECT seq FROM history WHERE parent_seq = ${seq})"
            ));
        }
        if let Some(since) = filter.since {
            // Only firings since then are read, and few before them, as the newest one before it is searched from the end.
            let before = since.saturating_sub(MAX_DISORDER).unwrap_or(since);
            let (since, before) = (
                condition.number(since.as_microsecond()),
                condition.number(before.as_microsecond()),
            );
            condition.and(&format!(
                "e.seq > COALESCE((SELECT earlier.seq FROM events earlier WHERE earlier.account_id = $1 \
                 AND COALESCE(earlier.committed_at, earlier.at) < ${before} ORDER BY earlier.seq DESC LIMIT 1), 0) \
                 AND COALESCE(e.committed_at, e.at) >= ${since}"
            ));
        }
        if filter.unacknowledged {
            condition.and("NOT EXISTS (SELECT 1 FROM acknowledgements k WHERE k.event_seq = e.seq)");
        }
        Ok(Some(condition))
    }
}
