//! The integration tests of this crate, one program.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

#[macro_use]
mod support;
mod analyst;
mod evaluation;
mod messages;
mod use_cases;
