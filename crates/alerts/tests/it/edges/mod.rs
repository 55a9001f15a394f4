//! The boundaries of each rule, one test per rule, through the engine.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

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
