//! Records settled messages in the alerts' histories and the outbox, and later status reports of providers.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::json;
use uuid::Uuid;

use crate::bulk::{Statement, write_many, write_many_returning};
use crate::columns::text;
use crate::model::{
    ChannelResult, MessageChannel, MessageResult, NotificationChannel, Settlement, StoredOutboxMessage,
};
use crate::queue::{FinishedRow, MESSAGES, SettlementResult};
use crate::unit_of_work::fetch;
use crate::{Store, StoreError, UnitOfWork};

const INSERT_OUTBOX: Statement = Statement {
    before: "INSERT INTO outbox (id, channel, recipient, content, created_at) VALUES ",
    columns: 5,
    after: " ON CONFLICT (id) DO NOTHING",
};

macro_rules! insert_notification_history {
    ($lock:literal) => {
        Statement {
            before: "WITH told (alert_seq, action, at, details) AS (VALUES ",
            columns: 4,
            after: concat!(
                "), current AS (SELECT seq, status, deleted_at, parent_seq FROM alerts WHERE seq IN (SELECT alert_seq FROM told) ORDER BY seq",
                $lock,
                ") INSERT INTO history (alert_seq, action, previous_status, new_status, at, price, details, parent_seq)
                 SELECT current.seq, told.action, CASE WHEN deleted_at IS NULL THEN current.status END,
                     CASE WHEN deleted_at IS NULL THEN current.status ELSE 'deleted' END, told.at, NULL, told.details, current.parent_seq
                 FROM told JOIN current ON current.seq = told.alert_seq"
            ),
        }
    };
}

/// Records notification results in the alerts' histories. The alerts do not change. For an alert deleted in the
/// meantime, the previous status is null.
const INSERT_NOTIFICATION_HISTORY: Statement = insert_notification_history!("");

/// Like [`INSERT_NOTIFICATION_HISTORY`], on PostgreSQL. Without the lock, an entry after that of a concurrent change could have the
/// status from before the change.
const INSERT_NOTIFICATION_HISTORY_LOCKING: Statement = insert_notification_history!(" FOR SHARE");

impl Store {
    /// Records the results of claimed messages.
    pub async fn settle_messages(
        &self,
        channel: MessageChannel,
        settlements: Vec<Settlement<MessageResult>>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let inputs = (channel, settlements, now);
        let transaction = self.commit(inputs, |&(channel, ref settlements, now), unit| {
            Box::pin(async move {
                let kept: Vec<&StoredOutboxMessage> = settlements
                    .iter()
                    .filter_map(|settled| settled.result.kept.as_ref())
                    .collect();
                write_many!(unit, INSERT_OUTBOX, &kept, |query, kept| {
                    query
                        .bind(kept.id.0)
                        .bind(kept.channel.name())
                        .bind(text(&kept.recipient))
                        .bind(kept.content.as_slice())
                        .bind(kept.created_at.as_microsecond())
                });
                let mut settled = unit.settle(&MESSAGES, settlements, now).await?;
                settled.extend(unit.settle_folded(settlements, now).await?);
                for moved_to in settlements.iter().filter_map(|settled| settled.result.moved_to) {
                    unit.wake(moved_to.into());
                }
                let results = settlements
                    .iter()
                    .filter_map(|settled| settled.result.channel_result.as_ref());
                for (channel, result) in latest_results(results) {
                    unit.record_channel_result(channel, result).await?;
                }
                unit.record_notifications(channel, settled, now).await
            })
        });
        transaction.await
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
        let inputs = (channel, text(provider_id), text(outcome), has_failed, now);
        let transaction = self.commit(
            inputs,
            |&(channel, ref provider_id, ref outcome, has_failed, now), unit| {
                Box::pin(async move {
                    let status = if has_failed { "failed" } else { "sent" };
                    let noted = write_many_returning!(unit, NotedRow, RECORD_STATUS, &[()], |query, _unit| query
                        .bind(provider_id.as_str())
                        .bind(outcome.as_str())
                        .bind(status));
                    if !noted.is_empty() {
                        let (seqs, mut noted): (Vec<i64>, Vec<FinishedRow>) = noted
                            .into_iter()
                            .map(|(seq, status, alert, id, outcome)| (seq, (status, alert, id, outcome)))
                            .unzip();
                        if has_failed {
                            unit.escalate(&MESSAGES, &seqs, now).await?;
                        }
                        noted.extend(unit.follow_settled(&seqs, now).await?);
                        if has_failed {
                            unit.record_notifications(channel, noted, now).await?;
                        }
                        return Ok(true);
                    }
                    let sql = "SELECT COUNT(*) FROM messages WHERE provider_id = $1";
                    let (known,) = fetch!(unit, fetch_one(i64,), sql, provider_id.as_str());
                    Ok(known > 0)
                })
            },
        );
        transaction.await
    }
}

/// Returns the last result for each notification channel.
fn latest_results<'a>(
    results: impl Iterator<Item = &'a (Arc<NotificationChannel>, ChannelResult)>,
) -> impl Iterator<Item = (&'a NotificationChannel, &'a ChannelResult)> {
    let mut latest: BTreeMap<i64, (&NotificationChannel, &ChannelResult)> = BTreeMap::new();
    for (channel, result) in results {
        latest.insert(channel.seq, (channel, result));
    }
    latest.into_values()
}

impl SettlementResult for MessageResult {
    fn message(&self) -> Option<&MessageResult> {
        Some(self)
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
                // The history has the acknowledgement already.
                "failed" if outcome.as_deref() == Some("acknowledged") => return None,
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
        let statement = if self.connection.is_pg() {
            INSERT_NOTIFICATION_HISTORY_LOCKING
        } else {
            INSERT_NOTIFICATION_HISTORY
        };
        write_many!(self, statement, &entries, |query, entry| {
            query
                .bind(entry.0)
                .bind(entry.1)
                .bind(now.as_microsecond())
                .bind(entry.2.as_str())
        });
        Ok(())
    }
}

/// Records a later status. A failure, once reported, remains.
const RECORD_STATUS: Statement = Statement {
    before: "WITH noted (provider_id, outcome, status) AS (VALUES ",
    columns: 3,
    after: ") UPDATE messages SET outcome = noted.outcome, status = noted.status FROM noted
            WHERE messages.provider_id = noted.provider_id AND messages.status = 'sent'
            RETURNING messages.seq, messages.status, messages.alert_seq, messages.id, messages.outcome",
};

type NotedRow = (i64, String, Option<i64>, Uuid, Option<String>);
