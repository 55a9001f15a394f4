//! # The simulated market: a market that needs no data
//!
//! Invented companies, and index funds. Everything comes from one seed, so that a demo can be told of
//! and repeated.
//!
//! The prices follow a common tide and a path of their own, with volatility that comes in clusters, gaps overnight,
//! jumps, and surprises when a company reports; volumes are highest near the open and the close and rise with the
//! movement. Companies report, pay, split, their insiders trade, people talk about them. It is meant to look like a
//! market, not to be one.
//!
//! ## How it works
//!
//! [`Market`] is a value that goes on from one instant to the next: [`Market::step`] answers what became known in
//! between. A step can be a second, and then it shows prices, or two years, and then it shows bars: history is made by
//! the very steps that make the present, so that one goes over into the other. `stock` moves one price, `news` says
//! what happens to a company on a date, `chance` gives each draw a generator of its own, so that the news do not
//! depend on the steps. [`run`] is the thin task around it that waits and sends.
//!
//! With the calendar of the exchange prices move while it is open. With [`Calendar::always_open`] they always
//! do, and the day in New York is the session.
//!
//! A market that is *lively* swings by some percent within a minute around the calm price, so that people who try
//! alerts out need not wait, and every now and then something else happens that alerts wait for.
//!
//! After a restart the market goes on from the last prices that are [`Known`]; the sessions that were missed meanwhile
//! are made up. What it does not keep is the mood: how wild it was just before.

mod chance;
mod companies;
mod feed;
mod market;
mod news;
mod numbers;
mod stock;

use ::market::Calendar;
use ::market::calendar::new_york;
use jiff::civil::Date;

pub use feed::{feeds, run};
pub use market::{Known, KnownStock, Market, Options};

use crate::folder::MarketData;

/// What the simulated market of twenty companies did on the days from `from` to `to`: the same seed, the same market.
#[must_use]
pub fn record(seed: u64, calendar: &Calendar, from: Date, to: Date) -> MarketData {
    let options = Options {
        seed,
        ..Options::default()
    };
    let mut market = Market::new(options, calendar, from, false);
    let end = to.tomorrow().map_or(new_york(to, 23, 59), |day| new_york(day, 0, 0));
    let mut data = MarketData::default();
    for delivery in market.catch_up(end) {
        let batch = delivery.batch;
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
    data.settle();
    data
}
