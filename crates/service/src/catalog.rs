//! The catalog in memory: every stock that is known, with what is known of it beside prices.
//!
//! It holds what the database holds, so that showing a stock needs no query. Whoever writes market data puts it here
//! after the commit.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use market::Symbol;
use market::records::StockRow;
use store::model::StockFacts;

/// A stock of the catalog.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The stock.
    pub row: StockRow,
    /// What is known of it.
    pub facts: StockFacts,
}

/// Every stock that is known.
#[derive(Debug, Default)]
pub struct Catalog(RwLock<BTreeMap<Symbol, Arc<Entry>>>);

impl Catalog {
    /// A stock.
    #[must_use]
    pub fn get(&self, symbol: Symbol) -> Option<Arc<Entry>> {
        // A panic elsewhere leaves the map whole: every change is one insertion.
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&symbol)
            .cloned()
    }

    /// Whether no stock is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// All stocks, by symbol.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<Entry>> {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .values()
            .cloned()
            .collect()
    }

    /// Changes a stock's entry; a stock that is not there yet gets one under its symbol as name.
    pub fn change(&self, symbol: Symbol, change: impl FnOnce(&mut Entry)) {
        let mut stocks = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let entry = stocks.entry(symbol).or_insert_with(|| {
            Arc::new(Entry {
                row: StockRow::named(symbol, symbol.as_str()),
                facts: StockFacts::default(),
            })
        });
        change(Arc::make_mut(entry));
    }
}
