//! The boundaries of each rule, one test per rule, through the engine.

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
mod fixture;
mod history;
mod prices;
mod regressions;
mod restart;
mod splits;
