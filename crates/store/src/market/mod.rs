//! What is known of the market: taken in (`record.rs`, `split.rs`, `withdraw.rs`) and read back (`read.rs`), as rows (`row.rs`).
//!
//! A later figure of the same key replaces the earlier one. Nothing here is written but through a unit of work.

mod read;
mod record;
mod row;
mod split;
mod withdraw;
