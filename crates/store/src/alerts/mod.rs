//! Alerts: rows (`row.rs`), reads (`read.rs`), pages (`list.rs`), changes (`change.rs`), alerts over many stocks (`scopes.rs`), tags (`tags.rs`), former states (`undo.rs`) and guest
//! alerts (`guests.rs`).

mod change;
mod guests;
mod list;
mod read;
mod row;
pub(crate) mod scopes;
mod tags;
mod undo;

pub(crate) use read::BY_ID;
pub(crate) use row::{AlertRow, TABLE, lifecycle_column, select, side_name};
