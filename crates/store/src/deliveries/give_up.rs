//! Gives up the deliveries to a webhook that was disabled or deleted.

use jiff::Timestamp;

use crate::model::WebhookId;
use crate::unit_of_work::{fetch, write_rows};
use crate::{StoreError, UnitOfWork};

impl UnitOfWork {
    /// Fails the pending deliveries to a webhook. Firings whose route contains it go on to the next channel.
    pub(crate) async fn give_up_deliveries(&mut self, id: WebhookId, now: Timestamp) -> Result<(), StoreError> {
        let sql = "SELECT event_seq FROM deliveries
                   WHERE status = 'pending' AND is_routed AND webhook_seq = (SELECT seq FROM webhooks WHERE id = $1)";
        let routed: Vec<(i64,)> = fetch!(self, fetch_all(i64,), sql, id.0);
        write_rows!(
            self,
            "UPDATE deliveries SET status = 'failed', lease = NULL
             WHERE status = 'pending' AND webhook_seq = (SELECT seq FROM webhooks WHERE id = $1)",
            id.0,
        );
        self.escalate_deliveries(id).await?;
        let routed: Vec<i64> = routed.into_iter().map(|(event,)| event).collect();
        self.send_unreached_firings(&routed, now).await
    }
}
