//! Requests, equivalence, restored conditions and transitions.

#![expect(clippy::unwrap_used, reason = "clippy takes what several tests share for no test")]

mod create;
mod documentation;
mod equivalence;
mod errors;
mod labels;
mod properties;
mod reminder;
mod restore;
mod rules;
pub(crate) mod support;
mod transition;
mod update;
