//! Evaluation of alerts: they fire once, have a reason, and survive restarts, splits and other processes.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

mod amendments;
mod clock_steps;
mod clock_walks;
mod direct_rules;
mod extended_session;
mod feeds;
mod firing;
mod mentions;
mod missed;
mod observed_bars;
mod other_processes;
mod restarts;
mod rules;
mod scopes;
mod split_days;
mod splits;
mod time;
mod trigger_prices;
mod vwap;
