//! Integration tests of webhooks: addresses, client, dispatcher, signatures and message bodies.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

mod addresses;
mod client;
mod client_read_limits;
pub(crate) mod common;
mod connection_security;
mod dispatcher;
mod dispatcher_fairness;
mod dispatcher_robustness;
mod dispatcher_shares;
mod lookups;
mod messages;
mod signatures;
