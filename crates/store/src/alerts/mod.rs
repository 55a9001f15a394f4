//! Alerts: rows (`row.rs`), reads (`read.rs`), pages (`list.rs`), changes (`change.rs`), tags (`tags.rs`) and guest
//! alerts (`guests.rs`).

mod change;
mod guests;
mod list;
mod read;
mod row;
mod tags;

pub(crate) use read::BY_ID;
pub(crate) use row::{AlertRow, TABLE, lifecycle_column, select, side_name};
