//! # Messages: mails and text messages on their way
//!
//! A message is a row, written in the transaction that gives reason to it: with a firing ([`make`]) there is exactly one, by
//! mail or as a text message; a letter about an account ([`queue`]) comes with what happened to the account. A row about a firing is
//! thin: to whom it goes, and in which words, is found out when it is sent, from the event and from the account as it is then.
//!
//! From there on they go the way of [deliveries](crate::deliveries): lanes, claims with a lease ([`claim`]), settlements
//! ([`settle`]), at least once under one id. Between claim and attempt stands one step more: each message is *admitted*
//! once ([`admit`]), which is where it is counted against all limits, in one transaction, so that no two processes take the
//! last place twice.
//!
//! What became of a message about a firing stands in the alert's history, written with the settlement. These entries change
//! no alert, so whoever follows changes does not see them (`feed.rs`).
//!
//! What is done with long ago is forgotten ([`forget`]).
//!
//! Where messages are kept instead of sent, they are in the outbox ([`outbox`]), written with the settlement, too.

mod admit;
mod claim;
mod forget;
pub(crate) mod make;
mod outbox;
mod queue;
mod settle;
mod unsubscribed;

use std::sync::Arc;

use tokio::sync::Notify;

use crate::columns::Table;
use crate::model::MessageChannel;

pub(crate) const TABLE: Table = Table("messages");

/// What rings when messages were made: for each channel a bell of its own, as each has somebody of its own who listens.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bells {
    email: Arc<Notify>,
    sms: Arc<Notify>,
}

impl Bells {
    pub(crate) fn of(&self, channel: MessageChannel) -> Arc<Notify> {
        Arc::clone(match channel {
            MessageChannel::Email => &self.email,
            MessageChannel::Sms => &self.sms,
        })
    }

    pub(crate) fn ring(&self) {
        self.email.notify_one();
        self.sms.notify_one();
    }
}
