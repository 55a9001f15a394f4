//! Rules: expressions, and all alerts with options.

mod index;
mod quiet_bands;
mod search;
