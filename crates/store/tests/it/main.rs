//! Tests of the store on both databases.

#![expect(clippy::unwrap_used, reason = "clippy takes what several tests share for no test")]

mod accounts;
mod alerts;
mod cluster;
mod codes;
mod deliveries;
mod escalations;
mod extended_prices;
mod feed;
mod firings;
mod folding;
mod former_secrets;
mod future_rows;
mod guests;
mod idempotency;
mod job_leases;
mod list;
mod list_positions;
mod market;
mod message_limits;
mod message_resend;
mod messages;
mod notification_channels;
mod oauth;
mod open;
mod postgres;
mod properties;
mod queue;
mod races;
mod sealed;
mod sessions;
mod several_processes;
mod shared_limits;
mod support;
mod tags;
mod totals;
mod unreached_firings;
mod write_queue;
