//! Mails and text messages: who gets which, when, and what the history says about it.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

#[path = "../use_cases/support/mod.rs"]
#[allow(dead_code, reason = "the use cases need more of it")]
mod support;

mod blindness;
mod kept;
mod limits;
mod post;
mod quiet;
mod recipients;
mod splits;
