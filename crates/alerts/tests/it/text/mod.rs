//! Alerts as text.

mod properties;
mod reading;
