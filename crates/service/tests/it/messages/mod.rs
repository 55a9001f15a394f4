//! Email and text messages: recipients, timing, and entries in the history.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

mod blindness;
mod helpers;
mod limits;
mod outbox;
mod quiet;
mod recipients;
mod splits;
