//! Looking for stocks.

use std::sync::Arc;

use market::records::StockRow;

use crate::catalog::Entry;
use crate::stocks::Stocks;

impl Stocks {
    /// The stocks whose symbol or name has `text` in it, in any case: those whose symbol begins with it first, then those whose
    /// name does; at most `limit`.
    #[must_use]
    pub fn search_stocks(&self, text: &str, limit: usize) -> Vec<StockRow> {
        let mut found = ranked(self.catalog.all(), text);
        found.truncate(limit);
        found.into_iter().map(|entry| entry.row.clone()).collect()
    }
}

/// The stocks that `text` fits, best first; equals stay in their order.
fn ranked(stocks: Vec<Arc<Entry>>, text: &str) -> Vec<Arc<Entry>> {
    let wanted = text.trim().to_lowercase();
    let mut ranked: Vec<_> = stocks
        .into_iter()
        .filter_map(|entry| rank(&entry.row, &wanted).map(|rank| (rank, entry)))
        .collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, entry)| entry).collect()
}

/// How well a stock fits a text in lower case, 0 being best; `None` if it does not.
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
            Arc::new(Entry {
                row: StockRow::named(symbol.parse().unwrap(), name),
                facts: StockFacts::default(),
            })
        };
        let ranked = ranked(stocks.map(entry).to_vec(), text);
        ranked.iter().map(|entry| entry.row.symbol.to_string()).collect()
    }

    #[test]
    fn beginnings_of_symbols_come_first_then_beginnings_of_names_then_the_rest() {
        assert_eq!(found(" amd"), ["AMD", "AMDX", "ZZZ", "TAMD"]);
        assert_eq!(found("MID"), ["ADM"]);
        assert_eq!(found("nothing"), [""; 0]);
        assert_eq!(found("").len(), 5);
    }
}
