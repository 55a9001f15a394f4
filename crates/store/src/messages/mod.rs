//! Emails and text messages, in one [queue](crate::queue) per channel.
//!
//! A firing creates exactly one message, by email or SMS. Messages about an account are queued with the change of the
//! account ([`queue`]). A row about a firing is minimal: recipient and wording are determined when it is sent, from
//! the event and from the account at that time.
//!
//! Between claim ([`claim`]) and attempt, each message is *admitted* once ([`quota`]). Admission counts it against
//! all limits in one transaction, so that two processes never exceed a limit together.
//!
//! The result of a message about a firing is written to the alert's history with the settlement ([`settle`]). These
//! entries change no alert, so readers of the change feed do not see them (`feed.rs`). Messages that are kept instead
//! of sent are written to the outbox with the settlement ([`outbox`]). Owners see what has happened to a message ([`receipt`]).

mod claim;
mod day_totals;
mod outbox;
mod queue;
mod quota;
mod receipt;
mod settle;
mod unsubscribed;

use crate::queue::MESSAGES;

/// The alert that a message is about; the alert over many stocks if it is one of its members.
macro_rules! alert_of_message {
    () => {
        "(SELECT COALESCE((SELECT parents.id FROM alerts parents WHERE parents.seq = a.parent_seq), a.id)
          FROM alerts a WHERE a.seq = messages.alert_seq) AS alert_id"
    };
}
pub(crate) use alert_of_message;

const TABLE: crate::columns::Table = MESSAGES.table;
