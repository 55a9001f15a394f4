//! The whole house with a provider: an exchange on loopback that speaks as Alpaca documents it, on a clock that the test sets.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unreachable_pub, reason = "the rooms of a test are nobody else's")]

mod dead_feed;
mod exchange;
mod house;
mod prices;
mod recorded_day;
