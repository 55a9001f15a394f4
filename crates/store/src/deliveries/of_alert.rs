//! The deliveries of one alert's firings. Their ids follow from those of the events.

use alerts::AlertId;
use uuid::Uuid;

use super::list::DeliveryRow;
use crate::bulk::{Statement, query_many};
use crate::database::query;
use crate::model::{AccountId, Delivery, DeliveryId, EventId, WebhookId};
use crate::{Store, StoreError};

/// The deliveries with some ids.
const DELIVERIES: Statement = Statement {
    before: "SELECT d.seq, d.id, COALESCE((SELECT parents.id FROM alerts parents WHERE parents.seq = a.parent_seq), a.id) AS alert_id, d.status, d.created_at, d.due_at
             FROM deliveries d JOIN events e ON e.seq = d.event_seq JOIN alerts a ON a.seq = e.alert_seq
             WHERE d.id IN (VALUES ",
    columns: 1,
    after: ")",
};

impl Store {
    /// Returns the ids of the events of an alert's latest firings, newest first, at most `limit`. The firings of an alert over many
    /// stocks are those of its stocks.
    pub async fn events_of_alert(
        &self,
        account: AccountId,
        alert: AlertId,
        limit: u32,
    ) -> Result<Vec<EventId>, StoreError> {
        // An event has the position of its firing in the history.
        let sql = "SELECT id FROM events WHERE seq IN (
                       SELECT h.seq FROM history h WHERE h.action = 'triggered' AND h.alert_seq IN (
                           SELECT seq FROM alerts WHERE id = $1 AND account_id = $2
                           UNION ALL SELECT member.seq FROM alerts member JOIN alerts parent ON member.parent_seq = parent.seq
                           WHERE parent.id = $1 AND parent.account_id = $2)
                       ORDER BY h.seq DESC LIMIT $3)
                   ORDER BY seq DESC";
        let rows = query!(fetch_all(Uuid,), &self.pools, sql, alert.0, account.0, i64::from(limit))?;
        Ok(rows.into_iter().map(|(id,)| EventId(id)).collect())
    }

    /// Returns the deliveries of some events to a webhook, with their latest attempts.
    pub async fn deliveries_of_events(
        &self,
        webhook: WebhookId,
        events: &[EventId],
    ) -> Result<Vec<Delivery>, StoreError> {
        let ids: Vec<DeliveryId> = events
            .iter()
            .map(|event| DeliveryId::for_event(*event, webhook))
            .collect();
        let rows = query_many!(DeliveryRow, &self.pools, DELIVERIES, &ids, |query, id| query.bind(id.0));
        self.with_attempts(rows).await
    }
}
