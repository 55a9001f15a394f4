//! Market indices.

use super::ListedQuote;
use super::listed::is_index;
use crate::market::MarketOverview;

impl MarketOverview {
    /// Returns the indices and index funds of the catalog with their prices: the benchmark first, the others by symbol.
    #[must_use]
    pub fn indices(&self) -> Vec<ListedQuote> {
        let benchmark = self.settings.benchmark;
        let figures = self.stocks.figures();
        let all = self.catalog.all();
        let found = all
            .iter()
            .filter(|entry| entry.row.is_active && is_index(&entry.row, benchmark));
        let mut indices: Vec<ListedQuote> = found
            .map(|entry| ListedQuote {
                row: entry.row.clone(),
                quote: figures.quote(entry.row.symbol),
            })
            .collect();
        // Stable: the catalog is ordered by symbol.
        indices.sort_by_key(|index| index.row.symbol != benchmark);
        indices
    }

    /// Returns the benchmark of performance figures.
    #[must_use]
    pub fn benchmark(&self) -> market::Symbol {
        self.settings.benchmark
    }
}
