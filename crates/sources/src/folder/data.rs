//! The data of a folder, sorted.

use std::collections::BTreeMap;
use std::mem;

use market::records::{DividendRow, EarningsRow, FundamentalsRow, InsiderRow, MentionRow, SplitRow, StockRow};
use market::{Bar, IntradayBar, Symbol};

/// All data of a data folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MarketData {
    /// The bars of each symbol that has any.
    pub bars: BTreeMap<Symbol, SymbolBars>,
    /// The splits by date, one for each symbol and date.
    pub splits: Vec<SplitRow>,
    /// The dividends by ex-date.
    pub dividends: Vec<DividendRow>,
    /// The earnings dates in order, one for each symbol and date.
    pub earnings: Vec<EarningsRow>,
    /// The fundamentals by the date from which they are known; of one date, in the order of the file.
    pub fundamentals: Vec<FundamentalsRow>,
    /// The insider transactions by filing date; of one date, in the order of the file.
    pub insiders: Vec<InsiderRow>,
    /// The counts of mentions by time, one for each symbol and time.
    pub mentions: Vec<MentionRow>,
    /// The stocks by symbol, one for each.
    pub stocks: Vec<StockRow>,
}

/// The bars of one symbol.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SymbolBars {
    /// Daily bars by date, one for each date.
    pub daily: Vec<Bar>,
    /// Intraday bars by time, one for each time.
    pub intraday: Vec<IntradayBar>,
}

impl MarketData {
    /// Returns the data of some stocks.
    #[must_use]
    pub fn of(&self, symbols: &[Symbol]) -> Self {
        fn rows<T: Clone>(rows: &[T], symbols: &[Symbol], symbol: impl Fn(&T) -> Symbol) -> Vec<T> {
            rows.iter()
                .filter(|row| symbols.contains(&symbol(row)))
                .cloned()
                .collect()
        }
        let bars = symbols.iter();
        Self {
            bars: bars
                .filter_map(|symbol| Some((*symbol, self.bars.get(symbol)?.clone())))
                .collect(),
            splits: rows(&self.splits, symbols, |row| row.symbol),
            dividends: rows(&self.dividends, symbols, |row| row.symbol),
            earnings: rows(&self.earnings, symbols, |row| row.symbol),
            fundamentals: rows(&self.fundamentals, symbols, |row| row.symbol),
            insiders: rows(&self.insiders, symbols, |row| row.symbol),
            mentions: rows(&self.mentions, symbols, |row| row.symbol),
            stocks: rows(&self.stocks, symbols, |row| row.symbol),
        }
    }

    /// Sorts all rows, and keeps only the last one of rows with the same key.
    pub(crate) fn sort_and_dedup(&mut self) {
        for bars in self.bars.values_mut() {
            keep_last(&mut bars.daily, |bar| bar.date);
            keep_last(&mut bars.intraday, |bar| bar.time);
        }
        keep_last(&mut self.splits, |row| (row.date, row.symbol));
        self.dividends.sort_by_key(|row| row.ex_date);
        keep_last(&mut self.earnings, |row| (row.date, row.symbol));
        self.fundamentals.sort_by_key(|row| row.as_of);
        self.insiders.sort_by_key(|row| row.filed_on);
        keep_last(&mut self.mentions, |row| (row.time, row.symbol));
        keep_last(&mut self.stocks, |row| row.symbol);
    }
}

/// Sorts `rows` by `key` and keeps the last of those with the same key.
fn keep_last<T, K: Ord>(rows: &mut Vec<T>, key: impl Fn(&T) -> K) {
    // A stable sort; it is fast for rows that are sorted already, as most are.
    rows.sort_by_key(&key);
    rows.dedup_by(|later, kept| {
        let same = key(later) == key(kept);
        if same {
            mem::swap(later, kept);
        }
        same
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_and_the_last_of_a_key_is_kept() {
        let mut rows = vec![(2, 'a'), (1, 'b'), (2, 'c'), (3, 'd'), (1, 'e'), (2, 'f')];
        keep_last(&mut rows, |row| row.0);
        assert_eq!(rows, [(1, 'e'), (2, 'f'), (3, 'd')]);
    }
}
