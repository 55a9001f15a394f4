//! End-to-end tests of all 23 conditions: each fires exactly once at its threshold, and not one step before it.
//!
//! [`table`] tests conditions on market data. [`time`] tests conditions on dates and times, with a changed system clock.

#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

mod facts;
mod prices;
mod table;
mod time;

/// Every condition of the API is in one of the tables.
#[test]
fn every_condition_is_tested() {
    let mut tested: Vec<_> = table::cases().iter().map(|case| case.condition).collect();
    tested.extend(time::CONDITIONS);
    tested.sort_unstable();
    tested.dedup();
    assert_eq!(tested.len(), 23, "{tested:?}");
}
