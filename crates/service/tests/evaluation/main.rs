//! What the market does to alerts: they fire once, remember why, and survive restarts, splits and other processes.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

#[path = "../use_cases/support/mod.rs"]
#[allow(dead_code, reason = "the use cases need more of it")]
mod support;

mod amendments;
mod firing;
mod mentions;
mod missed;
mod other_processes;
mod restarts;
mod splits;
mod time;
