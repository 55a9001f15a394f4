//! Market data: writing (`record.rs`, `split.rs`, `withdraw.rs`), reading (`read.rs`) and rows (`row.rs`). Prices in extended hours
//! are in `extended_prices.rs`, intraday bars in `intraday.rs`.
//!
//! A later figure with the same key replaces the earlier one. All writes go through a transaction.

mod extended_prices;
mod intraday;
mod read;
mod record;
mod row;
mod split;
mod withdraw;
