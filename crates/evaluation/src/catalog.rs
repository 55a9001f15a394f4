//! The in-memory catalog: every known stock with its facts other than prices.
//!
//! It mirrors the database, so that a read of a stock needs no query. Code that writes market data updates it after
//! the commit.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use market::Symbol;
use market::records::StockRow;
use store::model::StockFacts;

/// A stock of the catalog.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CatalogEntry {
    /// The stock.
    pub row: StockRow,
    /// Its facts.
    pub facts: StockFacts,
}

/// All known stocks.
#[derive(Debug, Default)]
pub struct Catalog(RwLock<BTreeMap<Symbol, Arc<CatalogEntry>>>);

impl Catalog {
    /// Returns a stock.
    #[must_use]
    pub fn get(&self, symbol: Symbol) -> Option<Arc<CatalogEntry>> {
        self.stocks().get(&symbol).cloned()
    }

    /// Whether the catalog has no stock.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.stocks().is_empty()
    }

    /// Returns all stocks, by symbol.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<CatalogEntry>> {
        self.stocks().values().cloned().collect()
    }

    /// Returns the first stocks by symbol, at most `limit`.
    #[must_use]
    pub fn first(&self, limit: usize) -> Vec<Symbol> {
        self.stocks().keys().copied().take(limit).collect()
    }

    /// Changes a stock's entry. A missing entry is added with the symbol as its name.
    pub fn change(&self, symbol: Symbol, change: impl FnOnce(&mut CatalogEntry)) {
        let mut stocks = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let entry = stocks.entry(symbol).or_insert_with(|| {
            Arc::new(CatalogEntry {
                row: StockRow::named(symbol, symbol.as_str()),
                facts: StockFacts::default(),
            })
        });
        change(Arc::make_mut(entry));
    }

    fn stocks(&self) -> RwLockReadGuard<'_, BTreeMap<Symbol, Arc<CatalogEntry>>> {
        // A panic elsewhere leaves the map consistent: each change is one insertion.
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}
