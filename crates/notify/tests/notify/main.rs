//! The room from outside.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

mod addresses;
mod client;
mod common;
mod dispatcher;
mod endurance;
mod fairness;
mod lookups;
mod messages;
mod signatures;
mod trust;
