//! Notifications: webhooks, emails and text messages, from the message text to the confirmed delivery.
//!
//! * [`address`]: checks of webhook URLs and IP addresses, against server-side request forgery.
//! * [`signature`]: webhook signatures.
//! * [`templates`]: the texts of emails and text messages.
//! * [`email`], [`sms`]: one attempt to send an email or a text message; [`message_attempt`]: its outcome.
//! * [`channels`]: one attempt to send a message to Slack, Discord, Telegram, ntfy, Pushover, Teams, Apprise or a browser.
//! * [`message`]: webhook bodies and Slack messages.
//! * [`client`]: one attempt to deliver to a webhook, and its outcome.
//! * [`schedule`]: when a delivery is retried, and when it is given up.
//! * [`dispatcher`]: sends deliveries from an outbox through a channel.
//! * [`provider`]: HTTP requests to providers that the operator configured.
//!
//! This crate does not depend on an HTTP server or a database. The caller implements [`dispatcher::Outbox`] for its database, with
//! [`client::WebhookJob`] as `Job` and [`client::WebhookAttempt`] as `Report`, and runs a [`dispatcher::Dispatcher`] with a
//! [`client::WebhookTransport`].

pub mod address;
pub mod channels;
pub mod client;
pub mod dispatcher;
pub mod email;
pub mod message;
pub mod message_attempt;
pub mod provider;
pub mod schedule;
pub mod signature;
pub mod sms;
pub mod templates;
