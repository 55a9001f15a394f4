//! # Delivery: webhooks, email and text messages
//!
//! * [`webhooks`]: webhooks of accounts and the deliveries to them.
//! * [`messages`]: email and text messages; their outbox, limits and transports.
//! * [`notification_channels`]: further places for messages about alerts: chat and push services, email addresses.
//! * [`phone_number`]: phone numbers that may receive text messages.
//!
//! Each channel is a queue in the database (`queue.rs`) and a transport of [`notify`]; the same dispatcher serves all. So
//! everything is sent at least once under one id, and nothing is lost when the process dies.

mod config;
mod escalations;
pub mod messages;
pub mod notification_channels;
pub mod phone_number;
mod queue;
mod use_cases;
pub mod webhooks;

pub use config::DeliveryConfig;
pub use use_cases::{DeliveryUseCases, Dispatchers};
