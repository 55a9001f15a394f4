//! Messages: mails and text messages to people.
//!
//! Whoever has reason to write somebody makes a [`NewMessage`](store::model::NewMessage) here and queues it in the transaction that gives the reason
//! ([`store::Unit::queue_message`]). Its content is sealed: there are links in it that open accounts.

mod write;

/// What can be set about messages.
#[derive(Clone, Debug, Default)]
pub struct Settings {}
