//! Sends firings to their next channels.

use std::collections::HashMap;

use jiff::Timestamp;
use uuid::Uuid;

use super::row::{DueRow, TABLE, next_channels_column};
use crate::bulk::{Statement, fetch_many};
use crate::database::query;
use crate::model::EventId;
use crate::queue::create::RoutedMessage;
use crate::routes::{RoutedChannel, RoutedTarget, UsableChannelRow, usable_channel};
use crate::unit_of_work::{fetch, select_locked, write_rows};
use crate::{Store, StoreError, UnitOfWork};

const USABLE: Statement = Statement {
    before: usable_channel!("c.seq IN (VALUES "),
    columns: 1,
    after: ")",
};

const DUE: Statement = Statement {
    before: "SELECT x.event_seq, x.account_id, e.id AS event_id, e.alert_seq, x.next_channels, x.ack_timeout,
             EXISTS (SELECT 1 FROM acknowledgements k WHERE k.event_seq = x.event_seq) AS is_acknowledged,
             m.status, m.outcome, m.due_at AS message_due_at
             FROM escalations x JOIN events e ON e.seq = x.event_seq LEFT JOIN messages m ON m.id = x.current_id
             WHERE x.event_seq IN (VALUES ",
    columns: 1,
    after: ")",
};

impl Store {
    /// Returns when the first escalation is due.
    pub async fn next_escalation(&self) -> Result<Option<Timestamp>, StoreError> {
        let sql = "SELECT due_at FROM escalations WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1";
        let due = query!(fetch_optional(i64,), &self.pools, sql)?;
        TABLE.optional_instant(due.map(|(due,)| due))
    }

    /// Sends the firings of due escalations to their next channels, at most `limit` of them. Returns how many escalations were due.
    pub async fn advance_escalations(&self, now: Timestamp, limit: u32) -> Result<usize, StoreError> {
        let transaction = self.commit((now, limit), |&(now, limit), unit| {
            Box::pin(async move {
                let sql = select_locked!(
                    unit,
                    concat!("SELECT event_seq FROM escalations WHERE due_at <= $1 ORDER BY due_at, event_seq LIMIT $2")
                );
                let due: Vec<(i64,)> = fetch!(unit, fetch_all(i64,), sql, now.as_microsecond(), i64::from(limit));
                let due = fetch_many!(unit, DueRow, DUE, &due, |query, due| query.bind(due.0));
                for escalation in &due {
                    unit.advance_escalation(escalation, now).await?;
                }
                Ok(due.len())
            })
        });
        transaction.await
    }
}

impl UnitOfWork {
    async fn advance_escalation(&mut self, escalation: &DueRow, now: Timestamp) -> Result<(), StoreError> {
        let at = now.as_microsecond();
        let next_due = |from: i64| escalation.ack_timeout.map(|timeout| from.saturating_add(timeout));
        if escalation.is_acknowledged {
            return self.end_escalation(escalation.event_seq).await;
        }
        if let Some(until) = escalation.held_until() {
            // The owner could not have read it yet.
            let sql = "UPDATE escalations SET due_at = $2 WHERE event_seq = $1";
            write_rows!(self, sql, escalation.event_seq, next_due(until.max(at)));
            return Ok(());
        }
        let mut next = escalation.next_channels()?.into_iter();
        let usable = self.usable_channels(next.as_slice(), escalation.account_id).await?;
        while let Some(seq) = next.next() {
            let Some(channel) = usable.get(&seq) else { continue };
            if !self.send_to_channel(escalation, channel, at).await? {
                continue;
            }
            if next.as_slice().is_empty() {
                return self.end_escalation(escalation.event_seq).await;
            }
            let sql = "UPDATE escalations SET current_id = $2, next_channels = $3, due_at = $4 WHERE event_seq = $1";
            let current = channel.current_id(EventId(escalation.event_id));
            let left = next_channels_column(next.as_slice().iter().copied());
            write_rows!(self, sql, escalation.event_seq, current, left.as_str(), next_due(at));
            return Ok(());
        }
        self.end_escalation(escalation.event_seq).await?;
        self.send_unreached_firings(&[escalation.event_seq], now).await
    }

    async fn end_escalation(&mut self, event_seq: i64) -> Result<(), StoreError> {
        write_rows!(self, "DELETE FROM escalations WHERE event_seq = $1", event_seq);
        Ok(())
    }

    async fn usable_channels(
        &mut self,
        seqs: &[i64],
        account: Uuid,
    ) -> Result<HashMap<i64, RoutedChannel>, StoreError> {
        let rows = fetch_many!(self, UsableChannelRow, USABLE, seqs, |query, seq| query.bind(*seq));
        let of_account = rows.into_iter().filter(|row| row.account_id == account);
        of_account.map(|row| Ok((row.seq, row.channel()?))).collect()
    }

    /// Sends a firing to a channel. Returns `false` if its webhook has no delivery of the firing, or one that failed.
    async fn send_to_channel(
        &mut self,
        escalation: &DueRow,
        channel: &RoutedChannel,
        at: i64,
    ) -> Result<bool, StoreError> {
        let event = EventId(escalation.event_id);
        match channel.target {
            RoutedTarget::Webhook(_) => {
                // Otherwise a settlement at the same time could fail it without finding this escalation.
                let sql = select_locked!(self, concat!("SELECT status FROM deliveries WHERE id = $1"));
                let found = fetch!(self, fetch_optional(String,), sql, channel.current_id(event));
                Ok(found.is_some_and(|(status,)| status != "failed"))
            }
            RoutedTarget::Message(by) => {
                let message = RoutedMessage {
                    channel,
                    by,
                    account: escalation.account_id,
                    event,
                    event_seq: escalation.event_seq,
                    alert_seq: escalation.alert_seq,
                    at,
                };
                self.insert_routed_messages(&[message]).await?;
                Ok(true)
            }
        }
    }
}
