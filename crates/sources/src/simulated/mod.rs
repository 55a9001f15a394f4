//! # The simulated market: a market that needs no data
//!
//! Twenty invented companies. Everything comes from one seed, so that a demo can be told of and repeated.
//!
//! The prices follow a common market and a path of their own, with volatility that comes in clusters, jumps at
//! earnings, gaps overnight and an occasional crash; volumes rise with the day's movement. It is meant to look like
//! a market, not to be one.

mod companies;
mod facts;
mod prices;

use jiff::civil::Date;
use market::Calendar;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::folder::{MarketData, SymbolBars};

/// What the simulated market did on the sessions from `from` to `to`: the same seed, the same market.
#[must_use]
pub fn record(seed: u64, calendar: &Calendar, from: Date, to: Date) -> MarketData {
    let mut data = MarketData::default();
    let days: Vec<Date> = calendar.sessions(from, to).map(|session| session.date).collect();
    let mut market = ChaCha8Rng::seed_from_u64(seed);
    let tides = prices::tides(&days, &mut market);
    for (company, stream) in companies::ALL.iter().zip(1..) {
        // A stream of its own for each company: a change to one leaves the others as they are.
        let mut chance = ChaCha8Rng::seed_from_u64(seed);
        chance.set_stream(stream);
        let events = facts::simulate(company, &days, &mut chance, &mut data);
        let daily = prices::simulate(company, &days, &tides, &events, &mut chance);
        let intraday = Vec::new();
        data.bars.insert(company.symbol(), SymbolBars { daily, intraday });
    }
    data
}
