//! # The demo: the service at work, with nothing to prepare
//!
//! * [`live`]: the very service that `serve` runs, on a database of its own and a simulated market that never closes
//!   and swings; an account, an API key and alerts that fire while one looks.
//! * [`hooks`]: its webhook, and the receiver that verifies what arrives.
//! * [`watchlist`]: its watchlist, with trades from months ago.
//! * [`year`]: a simulated year of every condition, replayed in a moment.
//! * [`orders`]: the alerts that the live demo watches, near the prices of the moment.

mod hooks;
pub mod live;
pub mod orders;
mod watchlist;
mod words;
pub mod year;
