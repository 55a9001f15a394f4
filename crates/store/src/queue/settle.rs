//! Records the results of many claimed rows at once.

use jiff::Timestamp;
use uuid::Uuid;

use super::QueueTable;
use crate::bulk::{fetch_many, write_many, write_many_returning};
use crate::columns::text;
use crate::model::{MessageResult, Settlement, SettlementDecision, WebhookId};
use crate::unit_of_work::write_rows;
use crate::{StoreError, UnitOfWork};

/// A changed message: status, alert `seq`, id and outcome. Deliveries return none.
pub(crate) type FinishedRow = (String, Option<i64>, Uuid, Option<String>);

/// The facts that a channel records with a settlement.
pub(crate) trait SettlementResult: Send + Sync {
    /// The columns that only messages have.
    fn message(&self) -> Option<&MessageResult> {
        None
    }
}

impl UnitOfWork {
    /// Settles rows. Deliveries count even if the lease has expired, because the receiver has accepted them; any
    /// other result does not.
    pub(crate) async fn settle<R: SettlementResult>(
        &mut self,
        table: &QueueTable,
        settlements: &[Settlement<R>],
        now: Timestamp,
    ) -> Result<Vec<FinishedRow>, StoreError> {
        // Deliveries come first, so that they win over other results of the same row.
        let (delivered, others): (Vec<_>, Vec<_>) = settlements
            .iter()
            .partition(|settled| settled.decision == SettlementDecision::Delivered);
        let mut finished = Vec::new();
        for some in [delivered, others] {
            let changed = write_many_returning!(self, FinishedRow, table.settle, &some, |query, settled| {
                let (status, due, tried) = match settled.decision {
                    SettlementDecision::Delivered => (table.delivered, None, 1_i64),
                    SettlementDecision::Failed | SettlementDecision::Gone => ("failed", None, 1),
                    SettlementDecision::Retry { at } => ("pending", Some(at), 1),
                    SettlementDecision::Postponed { until } => ("pending", Some(until), 0),
                    SettlementDecision::Released => ("pending", Some(now), 0),
                };
                let query = query
                    .bind(settled.seq)
                    .bind(settled.lease)
                    .bind(status)
                    .bind(due.map(Timestamp::as_microsecond))
                    .bind(tried);
                match settled.result.message() {
                    None => query,
                    Some(message) => query
                        .bind(message.outcome.as_deref().map(text))
                        .bind(message.provider_id.as_deref().map(text))
                        .bind(due.is_none().then(|| now.as_microsecond()))
                        .bind(message.moved_to.map(|channel| channel.name())),
                }
            });
            finished.extend(changed);
        }
        let failed = settlements
            .iter()
            .filter(|settled| matches!(settled.decision, SettlementDecision::Failed | SettlementDecision::Gone));
        let failed: Vec<i64> = failed.map(|settled| settled.seq).collect();
        self.escalate(table, &failed, now).await?;
        Ok(finished)
    }

    /// Makes the escalations due whose current row is among these and has failed for good. Firings without a further channel that none
    /// could get go to the account's own address.
    pub(crate) async fn escalate(
        &mut self,
        table: &QueueTable,
        seqs: &[i64],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let due = write_many!(self, table.escalate, seqs, |query, seq| query
            .bind(*seq)
            .bind(now.as_microsecond()));
        if due > 0 {
            self.wake_escalations();
        }
        let routed = fetch_many!(self, (i64,), table.routed_events, seqs, |query, seq| query.bind(*seq));
        let routed: Vec<i64> = routed.into_iter().map(|(event,)| event).collect();
        self.send_unreached_firings(&routed, now).await
    }

    /// Makes the escalations due whose current delivery is one to this webhook and has failed for good.
    pub(crate) async fn escalate_deliveries(&mut self, webhook: WebhookId) -> Result<(), StoreError> {
        let sql = "UPDATE escalations SET due_at = created_at WHERE current_id IN
                   (SELECT id FROM deliveries WHERE status = 'failed' AND webhook_seq = (SELECT seq FROM webhooks WHERE id = $1))";
        if write_rows!(self, sql, webhook.0) > 0 {
            self.wake_escalations();
        }
        Ok(())
    }
}
