//! The server on a real service with a database of its own: what comes out for what goes in.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

mod account;
mod alert_changes;
mod alerts;
mod analysis;
mod anonymity;
mod anonymous_requests;
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
mod kept_answers;
mod limits;
mod market;
mod market_dates;
mod market_overview;
mod mcp;
mod messages;
mod oauth;
mod operations;
mod outcome;
mod pages;
mod people;
mod record_history;
mod redirect;
mod refused_connections;
mod response_headers;
mod sessions;
mod sign_in;
mod signing;
mod subscription;
mod watchlist;
mod webhook_fields;
mod world;
