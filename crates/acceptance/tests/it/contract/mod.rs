//! The contract of the REST API by route and field, on both databases.
//!
//! [`acceptance::CheckedResponse`] checks the rules for every response (envelope, request id, format of numbers, timestamps and
//! ids, rate limit window); these tests do not repeat them.

#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

mod account;
mod alerts_create;
mod alerts_delete;
mod alerts_equivalent;
mod alerts_history;
mod alerts_invalid;
mod alerts_list;
mod alerts_read;
mod alerts_transitions;
mod alerts_update;
mod authentication;
mod document;
mod envelope;
mod guests;
mod idempotency;
mod ingest;
mod limits;
mod market;
mod operations;
mod ownership;
mod plans;
mod scopes;
mod stocks;
mod watchlist;
mod webhooks;
