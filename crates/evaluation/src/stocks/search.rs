//! Stock search.

use std::sync::Arc;

use market::records::StockRow;
use market::{Price, Symbol};

use crate::catalog::CatalogEntry;
use crate::stocks::Stocks;

impl Stocks {
    /// Returns the stocks whose symbol or name contains `text`, ignoring case, at most `limit`. Symbols that begin with
    /// it come first, then names that begin with it.
    #[must_use]
    pub fn search_stocks(&self, text: &str, limit: usize) -> Vec<StockRow> {
        let mut found = ranked(self.catalog.all(), text);
        found.truncate(limit);
        found.into_iter().map(|entry| entry.row.clone()).collect()
    }

    /// Returns one of the first stocks that has a price, and its price, for an example of a rule.
    #[must_use]
    pub fn example(&self) -> Option<(Symbol, Price)> {
        let candidates = self.catalog.first(EXAMPLE_CANDIDATES).into_iter();
        let mut priced = candidates.filter_map(|symbol| Some((symbol, self.evaluator.last_observed(symbol)?.price)));
        priced.next()
    }
}

/// The number of stocks among which an example is looked for.
const EXAMPLE_CANDIDATES: usize = 50;

/// Returns the stocks that match `text`, best first; equals keep their order.
fn ranked(stocks: Vec<Arc<CatalogEntry>>, text: &str) -> Vec<Arc<CatalogEntry>> {
    let wanted = text.trim().to_lowercase();
    let mut ranked: Vec<_> = stocks
        .into_iter()
        .filter_map(|entry| rank(&entry.row, &wanted).map(|rank| (rank, entry)))
        .collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, entry)| entry).collect()
}

/// Returns how well a stock matches a lower-case text, 0 being best; `None` if it does not match.
pub(super) fn rank(row: &StockRow, wanted: &str) -> Option<u8> {
    let (symbol, name) = (row.symbol.as_str().to_lowercase(), row.name.to_lowercase());
    if symbol == wanted {
        Some(0)
    } else if symbol.starts_with(wanted) {
        Some(1)
    } else if name.starts_with(wanted) {
        Some(2)
    } else if symbol.contains(wanted) || name.contains(wanted) {
        Some(3)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::model::StockFacts;

    fn found(text: &str) -> Vec<String> {
        let stocks = [
            ("ADM", "Archer-Daniels-Midland"),
            ("AMD", "Advanced Micro Devices"),
            ("AMDX", "Another Madness"),
            ("TAMD", "Tamed"),
            ("ZZZ", "Amdocs"),
        ];
        let entry = |(symbol, name): (&str, &str)| {
            Arc::new(CatalogEntry {
                row: StockRow::named(symbol.parse().unwrap(), name),
                facts: StockFacts::default(),
            })
        };
        let ranked = ranked(stocks.map(entry).to_vec(), text);
        ranked.iter().map(|entry| entry.row.symbol.to_string()).collect()
    }

    #[test]
    fn symbol_prefixes_rank_before_name_prefixes_before_other_matches() {
        assert_eq!(found(" amd"), ["AMD", "AMDX", "ZZZ", "TAMD"]);
        assert_eq!(found("MID"), ["ADM"]);
        assert_eq!(found("nothing"), [""; 0]);
        assert_eq!(found("").len(), 5);
    }
}
