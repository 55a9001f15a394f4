//! Alerts: as rows (`row.rs`), one by one and all of them (`read.rs`), page by page (`list.rs`), and as they change
//! (`change.rs`); those of people without an account (`guests.rs`).

mod change;
mod guests;
mod list;
mod read;
mod row;

pub(crate) use read::BY_ID;
pub(crate) use row::{AlertRow, TABLE, select, side_name};
