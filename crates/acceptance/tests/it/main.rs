//! The integration tests of this crate, one program.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

mod clients;
mod clients_webhooks;
mod conditions;
mod contract;
mod documented_receivers;
mod hostile;
mod mcp;
mod notifications;
mod oauth;
mod schemathesis;
mod survival;
mod webhooks;
