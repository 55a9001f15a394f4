//! Alerts: rows (`row.rs`), reads (`read.rs`), all active alerts (`active.rs`), pages (`list.rs`, `filter.rs`), totals (`totals.rs`),
//! revisions of accounts (`revision.rs`), changes (`change.rs`), alerts over many stocks (`scopes.rs`), alerts that programs
//! manage (`managed.rs`), tags (`tags.rs`), former states (`undo.rs`) and guest alerts (`guests.rs`).

mod active;
mod change;
mod filter;
mod guests;
mod list;
mod managed;
mod read;
mod revision;
mod row;
pub(crate) mod scopes;
mod tags;
mod totals;
mod undo;

pub(crate) use read::BY_ID;
pub(crate) use row::{AlertRow, TABLE, lifecycle_column, parse_routing, select, side_name};
pub(crate) use totals::{TotalChanges, TotalKind};
