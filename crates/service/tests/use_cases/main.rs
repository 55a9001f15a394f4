//! The use cases as those who call them see them: on each database, with time that stands still until it is told to go
//! on, and with chance from a seed.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

mod access;
mod account;
mod app_documents;
mod changing;
mod creating;
mod deleting;
mod feedback;
mod guests;
mod jobs;
mod listing;
mod literal;
mod prices;
mod quotas;
mod stocks;
#[allow(dead_code, reason = "the tests of the evaluation need more of it")]
mod support;
mod watchlist;
mod webhooks;
