//! Tests of files of alerts and plans.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

mod files;
mod plans;
mod schema;
mod support;
