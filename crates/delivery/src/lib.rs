//! # Delivery: webhooks, email and text messages
//!
//! * [`webhooks`]: webhooks of accounts and the deliveries to them.
//! * [`messages`]: email and text messages; their outbox, limits and transports.
//! * [`phone_number`]: phone numbers that may receive text messages.
//!
//! Each channel is an outbox in the database and a transport of [`notify`]; the same dispatcher serves all of them. So
//! everything is sent at least once under one id, and nothing is lost when the process dies.

mod config;
pub mod messages;
pub mod phone_number;
mod use_cases;
pub mod webhooks;

pub use config::DeliveryConfig;
pub use use_cases::{DeliveryUseCases, Dispatchers};
