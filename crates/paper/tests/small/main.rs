//! Returns, ranges and scorecards on a handful of days that one can follow by hand.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

mod ranges;
mod returns;
mod scorecards;
mod week;
mod worked_example;
