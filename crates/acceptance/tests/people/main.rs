//! People: how they come to accounts and hear of their alerts, by mail and as text messages, from outside.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

mod mail;
mod story;
mod support;
mod texts;
