//! Requests, what they are equivalent to, and what becomes of alerts.

#![expect(clippy::unwrap_used, reason = "clippy takes what several tests share for no test")]

mod create;
mod equivalence;
mod faults;
mod properties;
mod reminder;
mod restore;
mod support;
mod transition;
mod update;
