//! Records settled messages in the alerts' histories and the outbox, and later status reports of providers.

use jiff::Timestamp;
use serde_json::json;

use crate::bulk::{Statement, execute_many, query_many};
use crate::columns::text;
use crate::model::{MessageChannel, MessageResult, Settlement, StoredOutboxMessage};
use crate::queue::{FinishedRow, MESSAGES, SettlementResult};
use crate::unit_of_work::fetch;
use crate::{PlainTransaction, Store, StoreError, UnitOfWork};

const INSERT_OUTBOX: Statement = Statement {
    before: "INSERT INTO outbox (id, channel, recipient, content, created_at) VALUES ",
    columns: 5,
    after: " ON CONFLICT (id) DO NOTHING",
};

/// Records notification results in the alerts' histories. The alerts do not change. For an alert deleted in the
/// meantime, the previous status is null.
const INSERT_NOTIFICATION_HISTORY: Statement = Statement {
    before: "WITH told (alert_seq, action, at, details) AS (VALUES ",
    columns: 4,
    after: ") INSERT INTO history (alert_seq, action, previous_status, new_status, at, price, details)
            SELECT alerts.seq, told.action, CASE WHEN alerts.deleted_at IS NULL THEN alerts.status END,
                CASE WHEN alerts.deleted_at IS NULL THEN alerts.status ELSE 'deleted' END, told.at, NULL, told.details
            FROM told JOIN alerts ON alerts.seq = told.alert_seq",
};

impl Store {
    /// Records the results of claimed messages.
    pub async fn settle_messages(
        &self,
        channel: MessageChannel,
        settlements: Vec<Settlement<MessageResult>>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let settle = SettleMessages {
            channel,
            settlements,
            now,
        };
        self.commit(settle).await
    }

    /// Records a later status report from a provider. Returns whether the message is known: a provider may report
    /// before its first response is on disk.
    pub async fn record_message_status(
        &self,
        channel: MessageChannel,
        provider_id: &str,
        outcome: &str,
        has_failed: bool,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let record = RecordMessageStatus {
            channel,
            provider_id: text(provider_id),
            outcome: text(outcome),
            has_failed,
            now,
        };
        self.commit(record).await
    }
}

impl SettlementResult for MessageResult {
    fn message(&self) -> Option<&MessageResult> {
        Some(self)
    }
}

struct SettleMessages {
    channel: MessageChannel,
    settlements: Vec<Settlement<MessageResult>>,
    now: Timestamp,
}

impl PlainTransaction for SettleMessages {
    type Output = ();

    async fn run(&self, unit: &mut UnitOfWork) -> Result<(), StoreError> {
        let kept: Vec<&StoredOutboxMessage> = self
            .settlements
            .iter()
            .filter_map(|settled| settled.result.kept.as_ref())
            .collect();
        let done = execute_many!(&mut unit.connection, INSERT_OUTBOX, &kept, |query, kept| {
            query
                .bind(kept.id.0)
                .bind(kept.channel.name())
                .bind(text(&kept.recipient))
                .bind(kept.content.as_slice())
                .bind(kept.created_at.as_microsecond())
        });
        unit.track_rows(done)?;
        let settled = unit.settle(&MESSAGES, &self.settlements, self.now).await?;
        for moved_to in self.settlements.iter().filter_map(|settled| settled.result.moved_to) {
            unit.wake(moved_to.into());
        }
        unit.record_notifications(self.channel, settled, self.now).await
    }
}

impl UnitOfWork {
    /// Records the results of finished messages in the histories of their alerts.
    async fn record_notifications(
        &mut self,
        channel: MessageChannel,
        settled: Vec<FinishedRow>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let entries = settled.into_iter().filter_map(|(status, alert, id, outcome)| {
            let mut details = json!({"channel": channel.name(), "message_id": id.to_string()});
            let action = match status.as_str() {
                "sent" => "notification_sent",
                "failed" => {
                    details["reason"] = json!(outcome);
                    "notification_failed"
                }
                _ => return None,
            };
            Some((alert?, action, details.to_string()))
        });
        let entries: Vec<(i64, &str, String)> = entries.collect();
        if entries.is_empty() {
            return Ok(());
        }
        self.announce_history().await?;
        let recorded = execute_many!(
            &mut self.connection,
            INSERT_NOTIFICATION_HISTORY,
            &entries,
            |query, entry| {
                query
                    .bind(entry.0)
                    .bind(entry.1)
                    .bind(now.as_microsecond())
                    .bind(entry.2.as_str())
            }
        );
        self.track_rows(recorded)?;
        Ok(())
    }
}

struct RecordMessageStatus {
    channel: MessageChannel,
    provider_id: String,
    outcome: String,
    has_failed: bool,
    now: Timestamp,
}

/// Records a later status. A failure, once reported, remains.
const RECORD_STATUS: Statement = Statement {
    before: "WITH noted (provider_id, outcome, status) AS (VALUES ",
    columns: 3,
    after: ") UPDATE messages SET outcome = noted.outcome, status = noted.status FROM noted
            WHERE messages.provider_id = noted.provider_id AND messages.status = 'sent'
            RETURNING messages.status, messages.alert_seq, messages.id, messages.outcome",
};

impl PlainTransaction for RecordMessageStatus {
    type Output = bool;

    async fn run(&self, unit: &mut UnitOfWork) -> Result<bool, StoreError> {
        let status = if self.has_failed { "failed" } else { "sent" };
        let noted = query_many!(
            FinishedRow,
            &mut unit.connection,
            RECORD_STATUS,
            &[()],
            |query, _unit| {
                query
                    .bind(self.provider_id.as_str())
                    .bind(self.outcome.as_str())
                    .bind(status)
            }
        );
        let noted = unit.track_write(noted)?;
        if !noted.is_empty() {
            if self.has_failed {
                unit.record_notifications(self.channel, noted, self.now).await?;
            }
            return Ok(true);
        }
        let sql = "SELECT COUNT(*) FROM messages WHERE provider_id = $1";
        let (known,) = fetch!(unit, fetch_one(i64,), sql, self.provider_id.as_str());
        Ok(known > 0)
    }
}
