//! Webhooks that arrive: from an alert that fires to a receiver that has it, whatever receivers do.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

mod addresses;
mod arriving;
mod bad_receivers;
mod listening;
mod secrets;
mod support;
mod testing;
