//! Webhooks that arrive: from an alert that fires to a receiver that has it, whatever receivers do.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

mod arriving;
mod bad_receivers;
mod support;
mod testing;
