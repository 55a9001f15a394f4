//! Firings that no channel of their route could get go to the account's own address.
//!
//! The transaction that records the last failure also creates this message. So its owner hears of the firing even if the process is
//! killed right after.

use jiff::Timestamp;
use uuid::Uuid;

use crate::bulk::{Statement, fetch_many, write_many};
use crate::model::message::endpoint;
use crate::model::{EventId, MessageChannel, MessageId};
use crate::{StoreError, UnitOfWork};

/// Two transactions that record the last two failures of a firing at the same time would not see the failures of each other. The
/// second one waits here, and finds all.
const LOCK_EVENTS: Statement = Statement {
    before: "SELECT seq FROM events WHERE seq IN (VALUES ",
    columns: 1,
    after: ") ORDER BY seq FOR UPDATE",
};

/// A delivery that its owner sends again after the webhook has accepted it may fail; its attempts show that it was accepted.
const UNREACHED: Statement = Statement {
    before: "SELECT e.seq, e.id, e.account_id, e.alert_seq FROM events e
             WHERE e.account_id IS NOT NULL
             AND NOT EXISTS (SELECT 1 FROM acknowledgements k WHERE k.event_seq = e.seq)
             AND NOT EXISTS (SELECT 1 FROM escalations x WHERE x.event_seq = e.seq)
             AND NOT EXISTS (SELECT 1 FROM messages m
                 WHERE m.event_seq = e.seq AND m.notification_channel_seq IS NOT NULL AND m.status <> 'failed')
             AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.event_seq = e.seq AND d.is_routed AND (d.status <> 'failed'
                 OR EXISTS (SELECT 1 FROM delivery_attempts t WHERE t.delivery_seq = d.seq AND t.outcome = 'delivered')))
             AND e.seq IN (VALUES ",
    columns: 1,
    after: ")",
};

const INSERT: Statement = Statement {
    before: "INSERT INTO messages
             (id, channel, kind, lane, account_id, alert_seq, event_seq, is_fallback, status, tries, due_at, created_at)
             SELECT column1, column2, 'fired', column3, column4, column5, column6, TRUE, 'pending', 0, column7, column7
             FROM (VALUES ",
    columns: 7,
    after: ") AS made WHERE true ON CONFLICT (id) DO NOTHING",
};

impl UnitOfWork {
    /// Sends firings by email to the own addresses of their accounts, unless a channel has accepted the firing or may still do so, the
    /// firing was acknowledged, or it was sent there before. All `events` have a route.
    pub(crate) async fn send_unreached_firings(&mut self, events: &[i64], now: Timestamp) -> Result<(), StoreError> {
        if events.is_empty() {
            return Ok(());
        }
        // All transactions lock events in the same order, which prevents deadlocks.
        let mut events = events.to_vec();
        events.sort_unstable();
        events.dedup();
        if self.connection.is_pg() {
            fetch_many!(self, (i64,), LOCK_EVENTS, &events, |query, seq| query.bind(*seq));
        }
        let unreached = fetch_many!(self, (i64, Uuid, Uuid, i64), UNREACHED, &events, |query, seq| query
            .bind(*seq));
        let sent = write_many!(self, INSERT, &unreached, |query, firing| {
            let (event_seq, event, account, alert_seq) = firing;
            query
                .bind(MessageId::for_event(EventId(*event)).0)
                .bind(MessageChannel::Email.name())
                .bind(endpoint(account.as_bytes()))
                .bind(*account)
                .bind(*alert_seq)
                .bind(*event_seq)
                .bind(now.as_microsecond())
        });
        if sent > 0 {
            self.wake(MessageChannel::Email.into());
        }
        Ok(())
    }
}
