//! The integration tests of this crate, one program.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

mod analyst;
mod cluster;
mod evaluation;
mod messages;
mod support;
mod use_cases;
