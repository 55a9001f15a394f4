//! Deliveries as their owner sees them.

use std::collections::HashMap;

use alerts::AlertId;
use sqlx::AssertSqlSafe;
use uuid::Uuid;

use super::TABLE;
use crate::bulk::{Statement, query_many};
use crate::database::query;
use crate::merged::merged;
use crate::model::{Attempt, Delivery, DeliveryId, DeliveryStatus, ListError, ListRequest, Page, WebhookId};
use crate::sqlite::row;
use crate::{Store, StoreError};

/// The 20 latest attempts of each delivery. Resending can create any number of attempts.
const LATEST_ATTEMPTS: Statement = Statement {
    before: "SELECT delivery_seq, at, outcome, http_status, duration_ms, response FROM
             (SELECT *, ROW_NUMBER() OVER (PARTITION BY delivery_seq ORDER BY seq DESC) AS place FROM delivery_attempts
              WHERE delivery_seq IN (VALUES ",
    columns: 1,
    after: ")) latest WHERE place <= 20 ORDER BY seq",
};

row! {
    pub(super) struct DeliveryRow {
        seq: i64,
        id: Uuid,
        alert_id: Uuid,
        status: String,
        created_at: i64,
        due_at: i64,
    }
}

row! {
    struct AttemptRow {
        delivery_seq: i64,
        at: i64,
        outcome: String,
        http_status: Option<i64>,
        duration_ms: i64,
        response: Option<String>,
    }
}

impl TryFrom<AttemptRow> for Attempt {
    type Error = StoreError;

    fn try_from(row: AttemptRow) -> Result<Self, StoreError> {
        let status = row.http_status.map(|status| TABLE.narrow("http_status", status));
        Ok(Self {
            at: TABLE.instant(row.at)?,
            outcome: row.outcome,
            http_status: status.transpose()?,
            duration_ms: TABLE.narrow("duration_ms", row.duration_ms)?,
            response: row.response,
        })
    }
}

macro_rules! select_from {
    ($deliveries:literal) => {
        concat!(
            "SELECT d.seq, d.id, COALESCE((SELECT parents.id FROM alerts parents WHERE parents.seq = a.parent_seq), a.id) AS alert_id, d.status, d.created_at, d.due_at
             FROM ",
            $deliveries,
            " JOIN events e ON e.seq = d.event_seq JOIN alerts a ON a.seq = e.alert_seq "
        )
    };
}

macro_rules! select {
    ($rest:literal) => {
        concat!(
            select_from!("deliveries d"),
            "WHERE d.webhook_seq = (SELECT seq FROM webhooks WHERE id = $1) ",
            $rest
        )
    };
}

impl Store {
    /// Returns a page of a webhook's deliveries, newest first, with their latest attempts.
    pub async fn deliveries(
        &self,
        webhook: WebhookId,
        status: Option<DeliveryStatus>,
        request: impl Into<ListRequest<DeliveryId>>,
    ) -> Result<Page<Delivery>, ListError> {
        let request = request.into();
        let mut end = (i64::MAX, i64::MAX);
        if let Some(after) = request.after {
            let sql = "SELECT created_at, event_seq FROM deliveries
                       WHERE id = $2 AND webhook_seq = (SELECT seq FROM webhooks WHERE id = $1)";
            let found = query!(fetch_optional(i64, i64), &self.pools, sql, webhook.0, after.0)?;
            end = found.ok_or(ListError::UnknownItem)?;
        }
        let with_status = status.map_or_else(String::new, |status| format!(" AND status = '{}'", status.name()));
        let sql = format!(
            "SELECT COUNT(*) FROM deliveries WHERE webhook_seq = (SELECT seq FROM webhooks WHERE id = $1){with_status}"
        );
        let (total,) = query!(fetch_one(i64,), &self.pools, AssertSqlSafe(sql), webhook.0)?;
        // The index has the deliveries of each status in the order of the list. `(SELECT …)` hides the status from the partial index
        // of pending deliveries, which has another order.
        let statuses = status.map_or_else(|| DeliveryStatus::ALL.to_vec(), |status| vec![status]);
        let of_status = |status: DeliveryStatus| {
            format!(
                "SELECT created_at, event_seq, seq FROM deliveries WHERE webhook_seq = (SELECT seq FROM webhooks WHERE id = $1) \
                 AND status = (SELECT '{}') AND (created_at, event_seq) < ($2, $3)",
                status.name()
            )
        };
        let positions = merged(
            statuses.into_iter().map(of_status),
            "created_at DESC, event_seq DESC",
            "$6",
        );
        let sql = format!(
            concat!(
                select_from!("({} LIMIT $4 OFFSET $5) page JOIN deliveries d ON d.seq = page.seq"),
                "ORDER BY d.created_at DESC, d.event_seq DESC"
            ),
            positions
        );
        let (limit, offset) = request.limit_and_offset();
        let sql = AssertSqlSafe(sql);
        let reach = request.rows_until_end();
        let rows = query!(fetch_all DeliveryRow, &self.pools, sql, webhook.0, end.0, end.1, limit, offset, reach)?;
        Ok(Page {
            items: self.with_attempts(rows).await?,
            total: TABLE.narrow("COUNT(*)", total)?,
        })
    }

    /// Returns a webhook's deliveries after a position in order of creation, at most `limit`, with their attempts.
    /// Also returns the position of the last one.
    pub async fn deliveries_after(
        &self,
        webhook: WebhookId,
        position: i64,
        limit: u32,
    ) -> Result<(Vec<Delivery>, i64), StoreError> {
        let sql = select!("AND d.seq > $2 ORDER BY d.seq LIMIT $3");
        let rows = query!(fetch_all DeliveryRow, &self.pools, sql, webhook.0, position, i64::from(limit))?;
        let next = rows.last().map_or(position, |row| row.seq);
        Ok((self.with_attempts(rows).await?, next))
    }

    /// Returns one delivery of a webhook, with its attempts.
    pub async fn delivery(&self, webhook: WebhookId, id: DeliveryId) -> Result<Option<Delivery>, StoreError> {
        let rows = query!(fetch_all DeliveryRow, &self.pools, select!("AND d.id = $2"), webhook.0, id.0)?;
        Ok(self.with_attempts(rows).await?.pop())
    }

    /// Returns the `data` of a delivery's event as JSON text.
    pub async fn delivery_data(&self, webhook: WebhookId, id: DeliveryId) -> Result<Option<String>, StoreError> {
        let sql = "SELECT e.data FROM deliveries d JOIN events e ON e.seq = d.event_seq
                   WHERE d.webhook_seq = (SELECT seq FROM webhooks WHERE id = $1) AND d.id = $2";
        let found = query!(fetch_optional(String,), &self.pools, sql, webhook.0, id.0)?;
        Ok(found.map(|(data,)| data))
    }

    pub(super) async fn with_attempts(&self, rows: Vec<DeliveryRow>) -> Result<Vec<Delivery>, StoreError> {
        let found = query_many!(AttemptRow, &self.pools, LATEST_ATTEMPTS, &rows, |query, row| query
            .bind(row.seq));
        let mut attempts: HashMap<i64, Vec<Attempt>> = HashMap::new();
        for row in found {
            attempts.entry(row.delivery_seq).or_default().push(row.try_into()?);
        }
        let deliveries = rows.into_iter().map(|row| {
            let status = TABLE.parse("status", &row.status, DeliveryStatus::from_name)?;
            let next = (status == DeliveryStatus::Pending).then(|| TABLE.instant(row.due_at));
            Ok(Delivery {
                id: DeliveryId(row.id),
                alert: AlertId(row.alert_id),
                status,
                attempts: attempts.remove(&row.seq).unwrap_or_default(),
                created_at: TABLE.instant(row.created_at)?,
                next_attempt_at: next.transpose()?,
            })
        });
        deliveries.collect()
    }
}
