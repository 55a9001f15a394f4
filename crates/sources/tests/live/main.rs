//! The live source, with a provider of which the test says what it answers, and a clock that the test sets.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unreachable_pub, reason = "the rooms of a test are nobody else's")]

mod errands;
mod gaps;
mod jumps;
mod line;
mod price_requests;
mod prices;
mod streams;
mod world;
