//! The integration tests of this crate, one program.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

mod document;
mod event_schemas;
mod http;
mod snapshot_folder;
