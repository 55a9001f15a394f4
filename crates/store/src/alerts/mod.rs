//! Alerts: as rows (`row.rs`), one by one and all of them (`read.rs`), page by page (`list.rs`), and as they change
//! (`change.rs`).

mod change;
mod list;
mod read;
mod row;

pub(crate) use read::BY_ID;
pub(crate) use row::{AlertRow, TABLE, select, side_name};
