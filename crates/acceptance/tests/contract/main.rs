//! The contract of the REST interface, route by route, field by field, on both databases.
//!
//! What holds of every answer (envelope, request id, the form of numbers, instants and ids, the rate limit's window) is
//! checked by [`acceptance::Answer`] and not said again here.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

mod account;
mod alerts_create;
mod alerts_delete;
mod alerts_equivalent;
mod alerts_history;
mod alerts_list;
mod alerts_read;
mod alerts_transitions;
mod alerts_update;
mod alerts_wrong;
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
