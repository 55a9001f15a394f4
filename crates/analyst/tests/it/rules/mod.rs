//! Tests of the rules: proposals are sound for every history.
#![allow(clippy::unwrap_used, reason = "a test may fail so")]

mod degenerate;
mod freshness;
mod plans;
mod random_walks;
mod recorded;
