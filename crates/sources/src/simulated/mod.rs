//! # The simulated market: a market that needs no data
//!
//! Fictional companies and index funds. All data depends on one seed, so a demo can be repeated.
//!
//! Prices follow a common market return and an idiosyncratic path, with volatility clusters, overnight gaps, jumps, and
//! surprises at earnings reports. Volumes are highest near the open and the close and rise with the movement. Companies
//! report earnings, pay dividends and split; insiders trade; mentions are counted. The simulation looks like a market; it
//! is not a model for research.
//!
//! ## Design
//!
//! [`SimulatedMarket`] advances from one instant to the next: [`SimulatedMarket::step`] returns the data of the time in
//! between. A step of a second gives quotes, a step of two years gives bars. History and present are made by the same
//! steps, so prices continue without a break. `stock` moves one price, `news` decides the events of a company on a date,
//! and `random` gives each draw its own generator, so that the news does not depend on the steps. [`run`] is the task that
//! waits and sends.
//!
//! With the exchange calendar, prices move while the exchange is open. With [`Calendar::always_open`] they always move, and
//! a session is a day in New York.
//!
//! A *lively* market swings by some percent around the base price within a minute, so that alerts fire soon in a demo, and
//! other events that alerts wait for occur from time to time.
//!
//! After a restart the market continues from the [`SavedMarket`]; the sessions since then are simulated. The state of the
//! volatility is not saved.

mod companies;
mod feed;
mod market;
mod news;
mod numbers;
mod random;
mod stock;

use ::market::Calendar;
use ::market::calendar::new_york;
use jiff::civil::Date;

pub use feed::{feeds, run};
pub use market::{SavedMarket, SavedStock, SimulatedMarket, SimulationConfig};

use crate::folder::MarketData;

/// Simulates a market of twenty companies on the days from `from` to `to`. The same seed gives the same market.
#[must_use]
pub fn generate_history(seed: u64, calendar: &Calendar, from: Date, to: Date) -> MarketData {
    let config = SimulationConfig {
        seed,
        ..SimulationConfig::default()
    };
    let mut market = SimulatedMarket::new(config, calendar, from, false);
    let end = to.tomorrow().map_or(new_york(to, 23, 59), |day| new_york(day, 0, 0));
    let mut data = MarketData::default();
    for update in market.catch_up(end) {
        let batch = update.batch;
        for row in batch.bars {
            data.bars.entry(row.symbol).or_default().daily.push(row.bar);
        }
        data.splits.extend(batch.splits);
        data.dividends.extend(batch.dividends);
        data.earnings.extend(batch.earnings);
        data.fundamentals.extend(batch.fundamentals);
        data.insiders.extend(batch.insider_transactions);
        data.mentions.extend(batch.mentions);
    }
    data.stocks.extend(market.catalog());
    data.sort_and_dedup();
    data
}
