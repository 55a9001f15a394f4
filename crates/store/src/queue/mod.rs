//! # Queues of notifications
//!
//! Each channel has one [`Queue`]. Webhooks use the table `deliveries`; emails, text messages and messages to services use `messages`.
//! The code of this module is the same for all of them; [`QueueTable`] has the names that differ. What a channel reads
//! with a claim and writes with a settlement is in [`deliveries`](crate::deliveries) and
//! [`messages`](crate::messages).
//!
//! A row is written in the same transaction as its firing ([`create`]). So each firing has exactly one delivery per
//! active webhook, and one message or one for each channel of its route, even after a crash.
//!
//! The dispatcher of a channel looks up endpoints with pending rows ([`Store::pending_endpoints`](crate::Store)),
//! claims a few rows of each ([`claim`]) and settles many results at once ([`settle`]). A claim is a lease: a number
//! and an end. Until the end no other process tries the row; afterwards any process may. So a row that was claimed by
//! a crashed process is tried again. A settlement counts only while its lease holds, with one exception: a row that
//! the receiver has accepted is always recorded as delivered.
//!
//! Firings are recorded exactly once. Notifications are sent at least once, each under one id.
//!
//! The index of due rows starts with the endpoint. So finding all endpoints costs one lookup per endpoint, and a long
//! backlog of one endpoint does not slow down the others.
//!
//! Finished rows are purged after a while ([`purge`]).

mod claim;
pub(crate) mod create;
mod leases;
mod purge;
mod settle;
mod wake;

pub(crate) use settle::{FinishedRow, SettlementResult};
pub(crate) use wake::WakeHandles;
pub use wake::Wakes;

use crate::bulk::Statement;
use crate::columns::Table;
use crate::model::message_hold::message_holds;
use crate::model::{MessageChannel, Queue};

/// The names and statements of a table with queues.
pub(crate) struct QueueTable {
    pub(crate) table: Table,
    /// Column of the endpoint.
    endpoint: &'static str,
    /// Status of a row that the receiver has accepted.
    delivered: &'static str,
    /// Condition for rows that are held back, for instance until the end of quiet hours.
    is_held: &'static str,
    /// For SQLite, which has one writer at a time.
    claim: Statement,
    /// For PostgreSQL: skips rows that another process is claiming.
    claim_skip_locked: Statement,
    settle: Statement,
    /// Makes the escalations due whose current row has failed for good.
    escalate: Statement,
    /// Selects the events of failed rows to the channels of a route.
    routed_events: Statement,
}

/// A [`QueueTable`]. `more_columns`, `more_changes` and `finished` extend the statement that settles: further columns
/// of its input, what it does with them, and what it returns.
macro_rules! queue_table {
    (
        $table:literal, endpoint: $endpoint:literal, delivered: $delivered:literal, is_held: $is_held:expr,
        is_routed: $is_routed:literal,
        columns: $columns:literal, more_columns: $more_columns:literal, more_changes: $more_changes:literal,
        finished: $finished:literal $(,)?
    ) => {
        QueueTable {
            table: Table($table),
            endpoint: $endpoint,
            delivered: $delivered,
            is_held: $is_held,
            claim: Statement {
                before: "WITH wanted (wanted_seq, new_lease, claimed_at, ends_at) AS (VALUES ",
                columns: 4,
                after: concat!(
                    ") UPDATE ",
                    $table,
                    " SET lease = new_lease, due_at = ends_at FROM wanted
                    WHERE seq = wanted_seq AND status = 'pending' AND due_at <= claimed_at RETURNING seq"
                ),
            },
            claim_skip_locked: Statement {
                before: "WITH wanted (wanted_seq, new_lease, claimed_at, ends_at) AS (VALUES ",
                columns: 4,
                after: concat!(
                    "), free AS (
                        SELECT seq AS free_seq FROM ",
                    $table,
                    " q JOIN wanted ON seq = wanted_seq
                        WHERE status = 'pending' AND due_at <= claimed_at FOR UPDATE OF q SKIP LOCKED)
                    UPDATE ",
                    $table,
                    " SET lease = new_lease, due_at = ends_at FROM wanted, free
                    WHERE seq = wanted_seq AND seq = free_seq RETURNING seq"
                ),
            },
            settle: Statement {
                before: concat!(
                    "WITH settled (settled_seq, settled_lease, new_status, new_due_at, tried",
                    $more_columns,
                    ") AS (VALUES "
                ),
                columns: $columns,
                after: concat!(
                    ") UPDATE ",
                    $table,
                    " SET status = new_status, lease = NULL, due_at = COALESCE(new_due_at, due_at),
                        tries = tries + tried",
                    $more_changes,
                    "
                    FROM settled WHERE seq = settled_seq AND status <> '",
                    $delivered,
                    "'
                    AND (new_status = '",
                    $delivered,
                    "' OR (lease = settled_lease AND status = 'pending'))",
                    $finished
                ),
            },
            escalate: Statement {
                before: "WITH settled (settled_seq, settled_at) AS (VALUES ",
                columns: 2,
                after: concat!(
                    ") UPDATE escalations SET due_at = settled_at FROM settled JOIN ",
                    $table,
                    " q ON q.seq = settled_seq WHERE escalations.current_id = q.id AND q.status = 'failed'"
                ),
            },
            routed_events: Statement {
                before: concat!(
                    "SELECT event_seq FROM ",
                    $table,
                    " WHERE ",
                    $is_routed,
                    " AND status = 'failed' AND seq IN (VALUES "
                ),
                columns: 1,
                after: ")",
            },
        }
    };
}

pub(crate) static DELIVERIES: QueueTable = queue_table!(
    "deliveries",
    endpoint: "webhook_seq",
    delivered: "delivered",
    is_held: "1 = 0",
    is_routed: "is_routed",
    columns: 5,
    more_columns: "",
    more_changes: "",
    finished: "",
);

/// The sealed content of a finished message is deleted.
pub(crate) static MESSAGES: QueueTable = queue_table!(
    "messages",
    endpoint: "lane",
    delivered: "sent",
    is_held: concat!("COALESCE(outcome, '') IN (", message_holds!(), ")"),
    is_routed: "notification_channel_seq IS NOT NULL AND event_seq IS NOT NULL",
    columns: 9,
    more_columns: ", new_outcome, new_provider_id, now_finished_at, new_channel",
    more_changes: ", outcome = new_outcome, provider_id = COALESCE(new_provider_id, provider_id),
        finished_at = now_finished_at, channel = COALESCE(new_channel, channel),
        content = CASE WHEN new_status = 'pending' THEN content END",
    finished: " RETURNING status, alert_seq, id, outcome",
);

impl Queue {
    const fn table(self) -> &'static QueueTable {
        match self {
            Self::Webhooks => &DELIVERIES,
            Self::Messages(_) => &MESSAGES,
        }
    }

    /// The condition for the rows of this queue.
    fn condition(self) -> String {
        match self {
            Self::Webhooks => "status = 'pending'".to_owned(),
            Self::Messages(channel) => format!("status = 'pending' AND channel = '{}'", channel.name()),
        }
    }
}

impl From<MessageChannel> for Queue {
    fn from(channel: MessageChannel) -> Self {
        Self::Messages(channel)
    }
}
