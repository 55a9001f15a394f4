//! The state of the market that a test defines.

use std::collections::BTreeMap;

use jiff::civil::Date;
use market::{ObservedPrice, Price, Symbol};
use sources::live::MarketState;

/// The state of the market before the start.
#[derive(Debug, Default)]
pub struct KnownState {
    pub seen: BTreeMap<Symbol, ObservedPrice>,
    pub bars: BTreeMap<Symbol, Date>,
    /// The stocks that are not in the catalog.
    pub unlisted: Vec<Symbol>,
    pub closes: BTreeMap<Symbol, Price>,
    pub volumes: BTreeMap<Symbol, i64>,
    /// The stocks with alerts that are judged in extended hours.
    pub judged_in_extended_hours: Vec<Symbol>,
}

impl MarketState for KnownState {
    fn last_quote(&self, symbol: Symbol) -> Option<ObservedPrice> {
        self.seen.get(&symbol).copied()
    }

    fn last_bar(&self, symbol: Symbol) -> Option<Date> {
        self.bars.get(&symbol).copied()
    }

    fn is_listed(&self, symbol: Symbol) -> bool {
        !self.unlisted.contains(&symbol)
    }

    fn reference_price(&self, symbol: Symbol) -> Option<Price> {
        let seen = || self.seen.get(&symbol).map(|seen| seen.price);
        self.closes.get(&symbol).copied().or_else(seen)
    }

    fn is_judged_in_extended_hours(&self, symbol: Symbol) -> bool {
        self.judged_in_extended_hours.contains(&symbol)
    }

    fn average_volume(&self, symbol: Symbol) -> Option<i64> {
        self.volumes.get(&symbol).copied()
    }
}
