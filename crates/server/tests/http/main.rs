//! The server on a real service with a database of its own: what comes out for what goes in.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

mod account;
mod alerts;
mod analysis;
mod anonymity;
mod api_keys;
mod connections;
mod credentials;
mod cron;
mod csrf;
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
mod sessions;
mod sign_in;
mod signing;
mod subscription;
mod watchlist;
mod world;
