//! # Sources: where market data comes from
//!
//! * [`folder`]: recorded data as CSV files, read whole.
//! * [`simulated`]: a market that needs no data.
//!
//! This room knows no alert: it turns what others write into the nouns of [`market`].

pub mod folder;
pub mod simulated;
