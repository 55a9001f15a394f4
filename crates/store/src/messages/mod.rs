//! # Emails and text messages
//!
//! A message is a row, written in the same transaction as its cause. A firing creates exactly one message
//! ([`create`]), by email or SMS. Messages about an account are queued with the change of the account ([`queue`]). A
//! row about a firing is minimal: recipient and wording are determined when it is sent, from the event and from the
//! account at that time.
//!
//! The rest works like [deliveries](crate::deliveries): endpoints, claims with a lease ([`claim`]), settlements
//! ([`settle`]), at least once under one id. One step is added between claim and attempt: each message is *admitted*
//! once ([`quota`]). Admission counts it against all limits in one transaction, so that two processes never exceed a
//! limit together.
//!
//! The result of a message about a firing is written to the alert's history with the settlement. These entries
//! change no alert, so readers of the change feed do not see them (`feed.rs`).
//!
//! Finished messages are purged after a while ([`purge`]).
//!
//! Messages that are kept instead of sent are written to the outbox with the settlement ([`outbox`]).

mod claim;
pub(crate) mod create;
mod outbox;
mod purge;
mod queue;
mod quota;
mod settle;
mod unsubscribed;

use std::sync::Arc;

use tokio::sync::Notify;

use crate::columns::Table;
use crate::model::MessageChannel;

pub(crate) const TABLE: Table = Table("messages");

/// Notifies the dispatcher of each channel after messages were created.
#[derive(Clone, Debug, Default)]
pub(crate) struct MessageWakeHandles {
    email: Arc<Notify>,
    sms: Arc<Notify>,
}

impl MessageWakeHandles {
    pub(crate) fn for_channel(&self, channel: MessageChannel) -> Arc<Notify> {
        Arc::clone(match channel {
            MessageChannel::Email => &self.email,
            MessageChannel::Sms => &self.sms,
        })
    }

    pub(crate) fn wake_all(&self) {
        self.email.notify_one();
        self.sms.notify_one();
    }
}
