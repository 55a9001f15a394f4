//! The integration tests of this crate, one program.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

mod common;
mod edges;
mod engine_oracle;
mod expression;
mod extremes;
mod lifecycle;
mod many_alerts;
mod options;
mod oracle;
mod real_data;
mod recorded;
mod requests;
mod rules;
mod text;
