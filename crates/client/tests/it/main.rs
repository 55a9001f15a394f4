//! Tests of the client.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

mod document;
mod requests;
