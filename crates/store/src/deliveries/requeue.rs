//! Deliveries that are to be tried once more.

use jiff::Timestamp;

use super::claim::never;
use crate::model::{DeliveryId, WebhookId};
use crate::unit::write;
use crate::{Abort, BoxFuture, Store, StoreError, Unit, Work};

impl Unit {
    /// Queues a delivery of a webhook anew, under its id, whatever became of it; one that somebody is at stays with them.
    /// `false`: there is no such delivery.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
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
        Ok(write!(self, sql, webhook.0, id.0, now.as_microsecond()) == 1)
    }

    /// Queues the failed deliveries of a webhook anew whose events are from `since` on, and says how many.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn recover_deliveries(
        &mut self,
        webhook: WebhookId,
        since: Timestamp,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        let sql = "UPDATE deliveries SET status = 'pending', tries = 0, due_at = $3, lease = NULL
                   WHERE status = 'failed' AND created_at >= $2
                   AND webhook_seq = (SELECT seq FROM webhooks WHERE id = $1 AND deleted_at IS NULL)";
        Ok(write!(
            self,
            sql,
            webhook.0,
            since.as_microsecond(),
            now.as_microsecond()
        ))
    }
}

impl Store {
    /// Ends all leases: for a process that is the only one on its database, and has just started, so that what the one
    /// before it was at when it died need not wait for them to run out. Answers how many.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn end_leases(&self, now: Timestamp) -> Result<u64, StoreError> {
        self.write(EndLeases(now)).await.map_err(never)
    }
}

struct EndLeases(Timestamp);

impl Work for EndLeases {
    type Done = u64;
    type Refusal = std::convert::Infallible;

    fn run<'a>(&'a self, unit: &'a mut Unit) -> BoxFuture<'a, Result<u64, Abort<Self::Refusal>>> {
        Box::pin(async move {
            let now = self.0.as_microsecond();
            let sql = "UPDATE messages SET lease = NULL, due_at = $1 WHERE status = 'pending' AND lease IS NOT NULL";
            let messages = write!(unit, sql, now);
            let sql = "UPDATE analyst_queue SET lease = NULL, due_at = $1 WHERE lease IS NOT NULL";
            let analyses = write!(unit, sql, now);
            let sql = "UPDATE deliveries SET lease = NULL, due_at = $1 WHERE status = 'pending' AND lease IS NOT NULL";
            Ok(messages + analyses + write!(unit, sql, now))
        })
    }
}
