//! Tests of the language model module: its requests and the checks of its answers.
#![allow(clippy::unwrap_used, reason = "a test may fail so")]

mod answers;
mod fixture;
mod mutations;
mod requests;
