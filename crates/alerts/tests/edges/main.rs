//! The edges of each rule, one by one, through the engine: what still fires and what does not any more.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[allow(dead_code, reason = "each of the tests that share it uses a part of it")]
#[path = "../common/mod.rs"]
mod common;
#[allow(dead_code, reason = "as above")]
#[path = "../oracle/mod.rs"]
mod oracle;
#[allow(dead_code, reason = "as above")]
#[path = "../recorded/mod.rs"]
mod recorded;

mod calendar;
mod dates;
mod facts;
mod feeds;
mod history;
mod once_wrong;
mod prices;
mod restart;
mod splits;
mod stage;
