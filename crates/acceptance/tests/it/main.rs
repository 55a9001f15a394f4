//! The integration tests of this crate, one program.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

mod alerts_as_code;
mod clients;
mod clients_webhooks;
mod cluster;
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
