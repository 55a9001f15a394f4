//! Records the results of many messages at once, including the alerts' histories and the outbox.

use jiff::Timestamp;
use serde_json::json;
use uuid::Uuid;

use crate::bulk::{Statement, execute_many, query_many};
use crate::columns::text;
use crate::deliveries::into_store_error;
use crate::model::{MessageChannel, MessageDecision, MessageSettlement, StoredOutboxMessage};
use crate::{Abort, BoxFuture, Store, StoreError, Transaction, UnitOfWork};

/// Counts even if the lease has expired, because the message was sent. The sealed content is deleted.
const MARK_SENT: Statement = Statement {
    before: "WITH settled (seq, outcome, provider_id, at) AS (VALUES ",
    columns: 4,
    after: ") UPDATE messages SET status = 'sent', lease = NULL, tries = tries + 1, content = NULL,
                outcome = settled.outcome, provider_id = settled.provider_id, finished_at = settled.at
            FROM settled WHERE messages.seq = settled.seq AND status <> 'sent'
            RETURNING messages.alert_seq, messages.id, messages.outcome",
};

const MARK_FAILED: Statement = Statement {
    before: "WITH settled (seq, lease, outcome, at) AS (VALUES ",
    columns: 4,
    after: ") UPDATE messages SET status = 'failed', lease = NULL, content = NULL,
                outcome = settled.outcome, finished_at = settled.at
            FROM settled WHERE messages.seq = settled.seq AND messages.lease = settled.lease AND status = 'pending'
            RETURNING messages.alert_seq, messages.id, messages.outcome",
};

const RESCHEDULE: Statement = Statement {
    before: "WITH settled (seq, lease, due_at, tried, outcome) AS (VALUES ",
    columns: 5,
    after: ") UPDATE messages SET lease = NULL, due_at = settled.due_at, tries = tries + settled.tried,
                outcome = settled.outcome
            FROM settled WHERE messages.seq = settled.seq AND messages.lease = settled.lease AND status = 'pending'",
};

/// The message keeps its id, so it is sent only once.
const SWITCH_TO_EMAIL: Statement = Statement {
    before: "WITH settled (seq, lease, due_at, outcome) AS (VALUES ",
    columns: 4,
    after: ") UPDATE messages SET channel = 'email', lease = NULL, due_at = settled.due_at, outcome = settled.outcome
            FROM settled WHERE messages.seq = settled.seq AND messages.lease = settled.lease AND status = 'pending'",
};

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

/// A finished message: alert `seq`, message id and outcome.
type SettledRow = (Option<i64>, Uuid, Option<String>);

impl Store {
    /// Records the results of claimed messages.
    pub async fn settle_messages(
        &self,
        channel: MessageChannel,
        settlements: Vec<MessageSettlement>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let settle = SettleMessages {
            channel,
            settlements,
            now,
        };
        self.write(settle).await.map_err(into_store_error)
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
        self.write(record).await.map_err(into_store_error)
    }
}

struct SettleMessages {
    channel: MessageChannel,
    settlements: Vec<MessageSettlement>,
    now: Timestamp,
}

impl SettleMessages {
    fn filter_settlements<'a, T>(&'a self, pick: impl Fn(&'a MessageSettlement) -> Option<T>) -> Vec<T> {
        self.settlements.iter().filter_map(pick).collect()
    }

    async fn insert_outbox(&self, unit: &mut UnitOfWork) -> Result<(), StoreError> {
        let kept: Vec<&StoredOutboxMessage> = self.filter_settlements(|settled| match &settled.decision {
            MessageDecision::Sent { kept } => kept.as_ref(),
            _ => None,
        });
        let done = execute_many!(&mut unit.connection, INSERT_OUTBOX, &kept, |query, kept| {
            query
                .bind(kept.id.0)
                .bind(kept.channel.name())
                .bind(text(&kept.recipient))
                .bind(kept.content.as_slice())
                .bind(kept.created_at.as_microsecond())
        });
        unit.track_rows(done)?;
        Ok(())
    }

    async fn reschedule(&self, unit: &mut UnitOfWork) -> Result<(), StoreError> {
        let rescheduled = self.filter_settlements(|settled| {
            let (due, tried) = match &settled.decision {
                MessageDecision::Retry { at } => (*at, 1_i64),
                MessageDecision::Released => (self.now, 0),
                MessageDecision::Postponed { until } => (*until, 0),
                MessageDecision::Sent { .. } | MessageDecision::Failed | MessageDecision::SendByEmail => return None,
            };
            Some((settled, due.as_microsecond(), tried))
        });
        let done = execute_many!(&mut unit.connection, RESCHEDULE, &rescheduled, |query, rescheduled| {
            let (settled, due, tried) = rescheduled;
            query
                .bind(settled.seq)
                .bind(settled.lease)
                .bind(*due)
                .bind(*tried)
                .bind(settled.outcome.as_deref().map(text))
        });
        unit.track_rows(done)?;
        Ok(())
    }

    async fn switch_to_email(&self, unit: &mut UnitOfWork) -> Result<(), StoreError> {
        let switched =
            self.filter_settlements(|settled| (settled.decision == MessageDecision::SendByEmail).then_some(settled));
        let done = execute_many!(&mut unit.connection, SWITCH_TO_EMAIL, &switched, |query, settled| {
            query
                .bind(settled.seq)
                .bind(settled.lease)
                .bind(self.now.as_microsecond())
                .bind(settled.outcome.as_deref().map(text))
        });
        unit.track_rows(done)?;
        unit.has_messages |= !switched.is_empty();
        Ok(())
    }
}

impl UnitOfWork {
    /// Records results of messages in the histories of their alerts.
    async fn record_notifications(
        &mut self,
        channel: MessageChannel,
        action: &'static str,
        ended: &[SettledRow],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let entries = ended.iter().filter_map(|(alert, id, outcome)| {
            let mut details = json!({"channel": channel.name(), "message_id": id.to_string()});
            if action == FAILED_ACTION {
                details["reason"] = json!(outcome);
            }
            Some(((*alert)?, details.to_string()))
        });
        let entries: Vec<(i64, String)> = entries.collect();
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
                    .bind(action)
                    .bind(now.as_microsecond())
                    .bind(entry.1.as_str())
            }
        );
        self.track_rows(recorded)?;
        Ok(())
    }
}

const SENT_ACTION: &str = "notification_sent";
const FAILED_ACTION: &str = "notification_failed";

impl Transaction for SettleMessages {
    type Output = ();
    type Refusal = std::convert::Infallible;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<(), Abort<Self::Refusal>>> {
        Box::pin(async move {
            let at = self.now.as_microsecond();
            self.insert_outbox(unit).await?;
            let sent = self.filter_settlements(|settled| {
                matches!(settled.decision, MessageDecision::Sent { .. }).then_some(settled)
            });
            let ended = query_many!(SettledRow, &mut unit.connection, MARK_SENT, &sent, |query, settled| {
                query
                    .bind(settled.seq)
                    .bind(settled.outcome.as_deref().map(text))
                    .bind(settled.provider_id.as_deref().map(text))
                    .bind(at)
            });
            let ended = unit.track_write(ended)?;
            unit.record_notifications(self.channel, SENT_ACTION, &ended, self.now)
                .await?;
            let failed =
                self.filter_settlements(|settled| (settled.decision == MessageDecision::Failed).then_some(settled));
            let ended = query_many!(
                SettledRow,
                &mut unit.connection,
                MARK_FAILED,
                &failed,
                |query, settled| {
                    query
                        .bind(settled.seq)
                        .bind(settled.lease)
                        .bind(settled.outcome.as_deref().map(text))
                        .bind(at)
                }
            );
            let ended = unit.track_write(ended)?;
            unit.record_notifications(self.channel, FAILED_ACTION, &ended, self.now)
                .await?;
            self.reschedule(unit).await?;
            self.switch_to_email(unit).await?;
            Ok(())
        })
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
    before: "WITH noted (provider_id, outcome) AS (VALUES ",
    columns: 2,
    after: ") UPDATE messages SET outcome = noted.outcome FROM noted
            WHERE messages.provider_id = noted.provider_id AND status = 'sent'
            RETURNING messages.alert_seq, messages.id, messages.outcome",
};

const RECORD_FAILURE: Statement = Statement {
    before: "WITH noted (provider_id, outcome) AS (VALUES ",
    columns: 2,
    after: ") UPDATE messages SET outcome = noted.outcome, status = 'failed' FROM noted
            WHERE messages.provider_id = noted.provider_id AND status = 'sent'
            RETURNING messages.alert_seq, messages.id, messages.outcome",
};

impl Transaction for RecordMessageStatus {
    type Output = bool;
    type Refusal = std::convert::Infallible;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<bool, Abort<Self::Refusal>>> {
        Box::pin(async move {
            let statement = if self.has_failed { RECORD_FAILURE } else { RECORD_STATUS };
            let ended = query_many!(SettledRow, &mut unit.connection, statement, &[()], |query, _unit| {
                query.bind(self.provider_id.as_str()).bind(self.outcome.as_str())
            });
            let ended = unit.track_write(ended)?;
            if self.has_failed {
                unit.record_notifications(self.channel, FAILED_ACTION, &ended, self.now)
                    .await?;
            }
            if !ended.is_empty() {
                return Ok(true);
            }
            let sql = "SELECT COUNT(*) FROM messages WHERE provider_id = $1";
            let (known,) = crate::unit_of_work::fetch!(unit, fetch_one(i64,), sql, self.provider_id.as_str());
            Ok(known > 0)
        })
    }
}
