//! Tests of the HTTP server on a real service, each with a separate database.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

mod account;
mod account_enumeration;
mod alert_changes;
mod alerts;
mod analysis;
mod anonymous_idempotency;
mod api_keys;
mod caching;
mod connections;
mod credentials;
mod cron;
mod csrf;
mod documented_examples;
mod envelope;
mod feedback;
mod guests;
mod idempotency;
mod identity;
mod limits;
mod market;
mod market_dates;
mod market_overview;
mod mcp;
mod messages;
mod notes_and_tags;
mod oauth;
mod operations;
mod outcome;
mod pages;
mod parse;
mod preview;
mod record_history;
mod redirect;
mod refused_connections;
mod response_headers;
mod rules;
mod sessions;
mod sign_in;
mod stored_responses;
mod subscription;
mod test_server;
mod test_user;
mod watchlist;
mod webhook_fields;
