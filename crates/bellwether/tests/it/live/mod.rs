//! Tests of the whole server with a provider: a fake exchange on loopback, and a manual clock.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unreachable_pub, reason = "the modules of a test are private to it")]

mod dead_feed;
mod exchange;
mod prices;
mod recorded_day;
mod test_server;
