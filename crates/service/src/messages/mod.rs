//! Messages: mails and text messages to people.
//!
//! Whoever has reason to write somebody makes a [`NewMessage`](store::model::NewMessage) here and queues it in the transaction that gives reason to it
//! ([`store::UnitOfWork::queue_message`]). Its content is sealed: there are links in it that open accounts. That an alert has fired
//! is a message, too, made with the firing.
//!
//! From there the dispatchers take them ([`sending`]), the very same as that of webhooks, one for each channel. What they claim is judged
//! first ([`recipient`]: to whom, and is it night there?), counted against the limits ([`post`]), and gets its words
//! ([`compose`]). Who carries it is a setting ([`carrier`]): a mail server, Twilio, or the outbox, which keeps it for the operator
//! to read.
//!
//! What is promised: a message is sent at least once, under one id; what became of it stands in the alert's history. What is
//! not: that it is sent whatever it costs. There are limits for each recipient, account and day ([`settings`]).

mod carrier;
mod compose;
mod kept;
mod post;
mod quiet;
mod quota;
mod recipient;
mod sending;
mod settings;
mod status;
mod unsubscribe;
mod write;

use std::sync::Arc;

use crate::Ports;
pub(crate) use carrier::kept_place;
pub use kept::{MessageChannel, MessageId, OutboxFilter, OutboxMessage};
pub use sending::CarrierError;
pub(crate) use sending::Sending;
pub use settings::{Budget, Email, Settings, Sms};
pub use status::status_callback;
pub use unsubscribe::MailingState;
pub(crate) use write::{MessageWriter, letter, place};

/// Messages that are kept for the operator, and reports about text messages.
#[derive(Clone)]
pub struct Outbox {
    pub(crate) ports: Ports,
    pub(crate) settings: Arc<crate::Settings>,
}
