//! Gives up the deliveries to a webhook that was disabled or deleted.

use jiff::Timestamp;

use crate::bulk::{Statement, write_many_returning};
use crate::model::WebhookId;
use crate::{StoreError, UnitOfWork};

const GIVE_UP: Statement = Statement {
    before: "UPDATE deliveries SET status = 'failed', lease = NULL
             WHERE status = 'pending' AND webhook_seq IN (SELECT seq FROM webhooks WHERE id IN (VALUES ",
    columns: 1,
    after: ")) RETURNING event_seq, is_routed",
};

impl UnitOfWork {
    /// Fails the pending deliveries to a webhook. Firings whose route contains it go on to the next channel.
    pub(crate) async fn give_up_deliveries(&mut self, id: WebhookId, now: Timestamp) -> Result<(), StoreError> {
        let failed = write_many_returning!(self, (i64, bool), GIVE_UP, &[id], |query, id| query.bind(id.0));
        self.escalate_deliveries(id).await?;
        let routed = failed.into_iter().filter(|(_, is_routed)| *is_routed);
        let routed: Vec<i64> = routed.map(|(event, _)| event).collect();
        self.send_unreached_firings(&routed, now).await
    }
}
