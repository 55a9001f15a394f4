//! Telling people what happened: where to, in which words, signed how, and until it arrived.
//!
//! * [`address`]: which URLs a user may give, and which addresses are dialled for them.
//! * [`signature`]: how a receiver knows that a delivery is ours.
//! * [`letter`]: what people are told by mail or as a text message.
//! * [`email`], [`sms`]: one attempt to send a mail or a text message; [`message_attempt`]: what came of it.
//! * [`message`]: what is told, in the form of each channel.
//! * [`client`]: one attempt to deliver to a webhook, and what came of it.
//! * [`schedule`]: when a delivery is tried again, and when it is given up.
//! * [`dispatcher`]: gets deliveries out of an outbox and through a channel.
//! * [`provider`]: one question to a provider that the operator chose.
//! * [`time`]: the time, as a parameter.
//!
//! This room knows no HTTP server and no database. Whoever has both implements [`dispatcher::Outbox`] over the database, with
//! [`client::WebhookJob`] as its `Job` and [`client::Attempt`] as its `Report`, and runs a
//! [`dispatcher::Dispatcher`] with a [`client::WebhookTransport`] over it.

pub mod address;
pub mod client;
pub mod dispatcher;
pub mod email;
pub mod letter;
pub mod message;
pub mod message_attempt;
pub mod provider;
pub mod schedule;
pub mod signature;
pub mod sms;
pub mod time;
