//! Tests of the use cases on each database, with a manual clock and seeded random numbers.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

mod access;
mod account;
mod batch;
mod changing;
mod client_metadata;
mod creating;
mod deleting;
mod escaping;
mod feedback;
mod firings;
mod guests;
mod job_leases;
mod jobs;
mod listing;
mod managed_alerts;
mod notification_channels;
mod prices;
mod quotas;
mod stocks;
mod watchlist;
mod webhooks;
