//! Every one of the 23 conditions fires through the whole program, at its level and not one step short of it, once.
//!
//! What waits for observations and facts is in [`table`]; what waits for the clock is in [`time`], where the program
//! is given another time than the machine's.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

mod facts;
mod prices;
mod table;
mod time;

/// Every condition of the interface is in one of the tables.
#[test]
fn no_condition_is_left_out() {
    let mut tested: Vec<_> = table::cases().iter().map(|case| case.condition).collect();
    tested.extend(time::CONDITIONS);
    tested.sort_unstable();
    tested.dedup();
    assert_eq!(tested.len(), 23, "{tested:?}");
}
