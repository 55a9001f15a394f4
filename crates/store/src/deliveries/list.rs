//! Deliveries as their owner sees them.

use std::collections::HashMap;

use alerts::AlertId;
use uuid::Uuid;

use super::TABLE;
use crate::bulk::{Statement, query_many};
use crate::database::query;
use crate::model::{Attempt, Delivery, DeliveryId, DeliveryStatus, Page, PageRequest, WebhookId};
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

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT d.seq, d.id, COALESCE((SELECT parents.id FROM alerts parents WHERE parents.seq = a.parent_seq), a.id) AS alert_id, d.status, d.created_at, d.due_at
             FROM deliveries d JOIN events e ON e.seq = d.event_seq JOIN alerts a ON a.seq = e.alert_seq
             WHERE d.webhook_seq = (SELECT seq FROM webhooks WHERE id = $1) ",
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
        page: PageRequest,
    ) -> Result<Page<Delivery>, StoreError> {
        let status = status.map(DeliveryStatus::name);
        let sql = "SELECT COUNT(*) FROM deliveries d
                   WHERE d.webhook_seq = (SELECT seq FROM webhooks WHERE id = $1) AND d.status = COALESCE($2, d.status)";
        let (total,) = query!(fetch_one(i64,), &self.pools, sql, webhook.0, status)?;
        let sql =
            select!("AND d.status = COALESCE($2, d.status) ORDER BY d.created_at DESC, d.seq DESC LIMIT $3 OFFSET $4");
        let (limit, offset) = (i64::from(page.limit), page.offset());
        let rows = query!(fetch_all DeliveryRow, &self.pools, sql, webhook.0, status, limit, offset)?;
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
