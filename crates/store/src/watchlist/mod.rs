//! Watchlists, paper trades and the analyst's queue.
//!
//! Whoever changes an item or its trades has locked the account before, so that all of one account's are changed one
//! after another.

mod items;
mod progress;
mod queue;
mod row;
mod trades;
