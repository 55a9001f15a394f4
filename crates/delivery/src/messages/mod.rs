//! Messages: email, text messages, and messages to chat and push services.
//!
//! A use case creates a [`NewMessage`](store::model::NewMessage) and queues it in its own transaction
//! ([`store::UnitOfWork::queue_message`]). The content is sealed, because it contains links that give access to accounts. A
//! fired alert creates its message together with the firing.
//!
//! One dispatcher per channel claims the messages (`dispatchers.rs`, the same dispatcher as for webhooks). Claimed
//! messages are checked ([`recipient`]: address and quiet hours), counted against the limits ([`message_queue`]) and
//! rendered ([`email`], [`sms`], [`service`]). The configured transport sends them ([`transport`]): a mail server, Twilio, the service, or
//! the outbox, which stores them for the operator.
//!
//! To add a channel, add a [`MessageChannel`], a [`OutgoingMessage`](channel::OutgoingMessage) like [`sms`], and its
//! dispatcher.
//!
//! Guarantees: a message is sent at least once, under one id, and the alert's history records the result. Limits for
//! each recipient, account and day apply ([`config`]); messages beyond them are dropped.

mod action_link;
pub mod alert_summary;
mod channel;
mod compose;
mod config;
pub(crate) mod dispatchers;
pub(crate) mod email;
mod message_queue;
mod outbox;
mod quota;
mod quota_period;
mod recipient;
mod sent;
pub(crate) mod service;
mod signed_token;
pub(crate) mod sms;
mod status;
pub(crate) mod templates;
mod test_send;
mod transport;
mod unsubscribe;
mod write;

use std::sync::Arc;

use foundation::Ports;

pub use action_link::{ActionLink, LinkSubject};
pub use channel::MessageTransportError;
pub use config::{DailyMessageLimits, EmailConfig, MessagesConfig, SmsConfig};
pub use notify::channels::{AlertButton, ChannelActionKind};
pub use outbox::{MessageChannel, MessageId, OutboxFilter, OutboxMessage};
pub use quota_period::QuotaPeriod;
pub use sent::{SentMessage, SentMessages};
pub use status::status_callback;
pub use store::model::MessageReceipt;
pub use test_send::ChannelTests;
pub use transport::outbox_location;
pub use unsubscribe::{EmailSubscription, EmailSubscriptions};
pub use write::{MessageWriter, account_email, content_location};

/// Messages stored for the operator, and delivery reports of text messages.
#[derive(Clone)]
pub struct OperatorOutbox {
    pub(crate) ports: Ports,
    pub(crate) settings: Arc<crate::DeliveryConfig>,
}
