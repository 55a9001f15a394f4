//! The integration tests of this crate, one program.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

mod calendar;
mod calendar_properties;
mod calendar_published;
mod calendar_reference;
mod records;
mod reference_indicators;
