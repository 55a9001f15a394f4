//! Watchlists, paper trades and the analyst's queue.
//!
//! Callers that change an item or its trades lock the account first, so that changes of one account happen one after
//! another.

mod analyst_queue;
mod items;
mod progress;
mod row;
mod trades;
