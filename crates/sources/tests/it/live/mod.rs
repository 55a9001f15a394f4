//! The live source, with a provider whose answers the test defines and a manual clock.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unreachable_pub, reason = "test modules are private")]

mod extended_hours;
mod fetch_queue;
mod fixture;
mod gaps;
mod jumps;
mod known_state;
mod price_requests;
mod prices;
mod stream_server;
mod streams;
