//! Queues deliveries again.

use jiff::Timestamp;

use crate::model::{DeliveryId, Queue, WebhookId};
use crate::unit_of_work::write_rows;
use crate::{StoreError, UnitOfWork};

impl UnitOfWork {
    /// Queues a delivery again under its id, whatever its status. A delivery that is being tried keeps its lease.
    /// Returns `false` if there is no such delivery.
    pub async fn resend_delivery(
        &mut self,
        webhook: WebhookId,
        id: DeliveryId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let sql = "UPDATE deliveries SET
                       status = 'pending', tries = 0,
                       due_at = CASE WHEN lease IS NULL THEN $3 ELSE due_at END
                   WHERE id = $2 AND webhook_seq = (SELECT seq FROM webhooks WHERE id = $1 AND deleted_at IS NULL)";
        let queued = write_rows!(self, sql, webhook.0, id.0, now.as_microsecond());
        self.wake(Queue::Webhooks);
        Ok(queued == 1)
    }

    /// Queues a webhook's failed deliveries again whose events date from `since` or later. Returns their number.
    pub async fn recover_deliveries(
        &mut self,
        webhook: WebhookId,
        since: Timestamp,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        let sql = "UPDATE deliveries SET status = 'pending', tries = 0, due_at = $3, lease = NULL
                   WHERE status = 'failed' AND created_at >= $2
                   AND webhook_seq = (SELECT seq FROM webhooks WHERE id = $1 AND deleted_at IS NULL)";
        let queued = write_rows!(self, sql, webhook.0, since.as_microsecond(), now.as_microsecond());
        self.wake(Queue::Webhooks);
        Ok(queued)
    }
}
