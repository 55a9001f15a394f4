//! Email and text messages: recipients, timing, and entries in the history.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

#[path = "../use_cases/support/mod.rs"]
#[allow(dead_code, reason = "the use cases need more of it")]
mod support;

mod blindness;
mod helpers;
mod limits;
mod outbox;
mod quiet;
mod recipients;
mod splits;
