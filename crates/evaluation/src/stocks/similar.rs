//! Candidates for an unknown symbol.

use std::sync::Arc;

use market::Symbol;

use super::search::rank;
use crate::catalog::CatalogEntry;
use crate::prices::Prices;
use foundation::{ServiceError, StockCandidate};

/// The maximum number of candidates in an error.
const MAX_CANDIDATES: usize = 5;

impl Prices {
    /// Returns the error for a stock that neither the catalog nor a source knows, with similar stocks of the catalog.
    pub(crate) fn unknown_stock(&self, symbol: Symbol) -> ServiceError {
        let candidates = similar(self.catalog.all(), symbol);
        let candidates = candidates.into_iter().map(|entry| StockCandidate {
            symbol: entry.row.symbol,
            name: entry.row.name.clone(),
        });
        ServiceError::UnknownStock {
            symbol,
            candidates: candidates.collect(),
        }
    }
}

/// Returns the traded stocks that are most similar to `wanted`, the best match first; equals keep their order.
fn similar(stocks: Vec<Arc<CatalogEntry>>, wanted: Symbol) -> Vec<Arc<CatalogEntry>> {
    let text = wanted.as_str().to_lowercase();
    let mut scored: Vec<_> = stocks
        .into_iter()
        .filter(|entry| entry.row.is_active)
        .filter_map(|entry| distance(&entry, &text).map(|distance| (distance, entry)))
        .collect();
    scored.sort_by_key(|(distance, _)| *distance);
    scored.truncate(MAX_CANDIDATES);
    scored.into_iter().map(|(_, entry)| entry).collect()
}

/// Returns how far a stock is from a lower-case symbol, 0 being nearest; `None` if it is not similar.
///
/// A symbol or a name that begins with the text counts as one typing error. A typing error is a letter that is
/// added, left out, replaced or swapped with its neighbour.
fn distance(entry: &CatalogEntry, text: &str) -> Option<usize> {
    let symbol = entry.row.symbol.as_str().to_lowercase();
    let mistyped = strsim::damerau_levenshtein(&symbol, text);
    // Symbols of one or two letters match almost anything after one error.
    let allowed = match text.chars().count() {
        0..=2 => 0,
        3 => 1,
        _ => 2,
    };
    // Ranks 1 and 2 are beginnings of symbols and of names.
    let begins = rank(&entry.row, text).is_some_and(|rank| rank <= 2) || is_extended(&symbol, text);
    match (begins, mistyped <= allowed) {
        (true, _) => Some(mistyped.min(1)),
        (false, true) => Some(mistyped),
        (false, false) => None,
    }
}

/// Whether a text begins with the symbol: GOOGLE begins with GOOG.
fn is_extended(symbol: &str, text: &str) -> bool {
    symbol.chars().count() >= 3 && text.starts_with(symbol)
}

#[cfg(test)]
mod tests {
    use market::records::StockRow;
    use store::model::StockFacts;

    use super::*;

    fn found(wanted: &str) -> Vec<String> {
        let stocks = [
            ("AAPL", "Apple Inc.", true),
            ("ABCD", "Alphabet soup", true),
            ("APLE", "Apple Hospitality", true),
            ("APPX", "Gone", false),
            ("F", "Ford", true),
            ("GOOG", "Alphabet Inc.", true),
            ("MSFT", "Microsoft", true),
            ("TSLA", "Tesla", true),
        ];
        let entry = |(symbol, name, is_active): (&str, &str, bool)| {
            let row = StockRow {
                is_active,
                ..StockRow::named(symbol.parse().unwrap(), name)
            };
            Arc::new(CatalogEntry {
                row,
                facts: StockFacts::default(),
            })
        };
        let similar = similar(stocks.map(entry).to_vec(), wanted.parse().unwrap());
        similar.iter().map(|entry| entry.row.symbol.to_string()).collect()
    }

    #[test]
    fn mistyped_symbols_find_their_stock() {
        assert_eq!(found("MSTF"), ["MSFT"]);
        assert_eq!(found("MSF"), ["MSFT"]);
        assert_eq!(found("TSLAA"), ["TSLA"]);
        assert_eq!(found("APPL")[0], "AAPL");
    }

    #[test]
    fn names_and_longer_texts_find_their_stock() {
        assert_eq!(found("TESLA"), ["TSLA"]);
        assert_eq!(found("GOOGLE"), ["GOOG"]);
        assert_eq!(found("ALPHABET"), ["ABCD", "GOOG"]);
    }

    #[test]
    fn dissimilar_or_untraded_stocks_are_not_candidates() {
        assert_eq!(found("ZZZZ"), [""; 0]);
        assert_eq!(found("X"), [""; 0]);
        assert!(!found("APPX").contains(&"APPX".to_owned()));
    }

    #[test]
    fn candidates_are_at_most_five() {
        let entry = |n: u32| {
            let symbol: Symbol = format!("ABC{n}").parse().unwrap();
            Arc::new(CatalogEntry {
                row: StockRow::named(symbol, "A company"),
                facts: StockFacts::default(),
            })
        };
        let wanted = "ABC".parse().unwrap();
        assert_eq!(similar((0..9).map(entry).collect(), wanted).len(), MAX_CANDIDATES);
    }
}
