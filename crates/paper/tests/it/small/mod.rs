//! Returns, ranges and scorecards on a few days that can be checked by hand.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

mod ranges;
mod returns;
mod scorecards;
mod week;
mod worked_example;
