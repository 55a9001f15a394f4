//! # The demo: the service without any preparation
//!
//! * [`live`]: the same service that `serve` runs, with a separate database and a simulated market that never closes
//!   and moves strongly; an account, an API key and alerts that fire within seconds.
//! * [`webhook`]: the demo's webhook and the receiver that verifies deliveries.
//! * [`watchlist`]: the demo's watchlist, with trades from past months.
//! * [`year`]: a simulated year with alerts of every condition, replayed in a few seconds.
//! * [`alert_requests`]: the alerts of the live demo, near the current prices.

pub mod alert_requests;
pub mod live;
mod output;
mod watchlist;
mod webhook;
pub mod year;
