//! A language model from outside: what it is asked, and what is taken of what it answers.
#![allow(clippy::unwrap_used, reason = "a test may fail so")]

#[path = "../support/mod.rs"]
mod support;

mod answers;
mod mutations;
mod requests;
mod world;
