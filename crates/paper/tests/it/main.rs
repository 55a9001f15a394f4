//! The integration tests of this crate, one program.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

mod account;
mod book;
mod recorded;
mod small;
