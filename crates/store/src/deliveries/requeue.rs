//! Queues deliveries again.

use jiff::Timestamp;

use super::claim::into_store_error;
use crate::model::{DeliveryId, WebhookId};
use crate::unit_of_work::write_rows;
use crate::{Abort, BoxFuture, Store, StoreError, Transaction, UnitOfWork};

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
        Ok(write_rows!(self, sql, webhook.0, id.0, now.as_microsecond()) == 1)
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
        Ok(write_rows!(
            self,
            sql,
            webhook.0,
            since.as_microsecond(),
            now.as_microsecond()
        ))
    }
}

impl Store {
    /// Releases all leases and returns their number. For a process that has just started and is the only one on its
    /// database: work claimed by its crashed predecessor need not wait for the leases to expire.
    pub async fn release_all_leases(&self, now: Timestamp) -> Result<u64, StoreError> {
        self.write(EndLeases(now)).await.map_err(into_store_error)
    }
}

struct EndLeases(Timestamp);

impl Transaction for EndLeases {
    type Output = u64;
    type Refusal = std::convert::Infallible;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<u64, Abort<Self::Refusal>>> {
        Box::pin(async move {
            let now = self.0.as_microsecond();
            let sql = "UPDATE messages SET lease = NULL, due_at = $1 WHERE status = 'pending' AND lease IS NOT NULL";
            let messages = write_rows!(unit, sql, now);
            let sql = "UPDATE analyst_queue SET lease = NULL, due_at = $1 WHERE lease IS NOT NULL";
            let analyses = write_rows!(unit, sql, now);
            let sql = "UPDATE deliveries SET lease = NULL, due_at = $1 WHERE status = 'pending' AND lease IS NOT NULL";
            Ok(messages + analyses + write_rows!(unit, sql, now))
        })
    }
}
