//! Reads stocks.

use std::collections::BTreeMap;

use market::Symbol;
use market::records::StockRow;

use super::figures::Figures;
use super::{QuoteView, StockEventDays, StockView};
use crate::stocks::Stocks;
use foundation::ServiceError;

impl Stocks {
    /// Returns a stock with its figures. The first read of a stock waits a short time for the source.
    ///
    /// # Errors
    /// As `Prices::require_stock`.
    pub async fn stock(&self, symbol: Symbol) -> Result<StockView, ServiceError> {
        self.prices.require_stock_to_read(symbol).await?;
        self.prices.note_read(symbol).await;
        Ok(self.stock_view(symbol))
    }

    /// Returns the last prices of stocks; unknown stocks are left out. The source is asked about a few of them at most.
    pub async fn quotes(&self, symbols: &[Symbol]) -> Vec<QuoteView> {
        let reads = self.prices.bounded_reads(symbols).into_iter().map(|symbol| async move {
            if self.prices.require_stock_to_read(symbol).await.is_ok() {
                self.prices.note_read(symbol).await;
            }
        });
        futures_util::future::join_all(reads).await;
        let figures = self.figures();
        let known = symbols.iter().filter(|symbol| self.prices.is_listed(**symbol));
        known.map(|&symbol| figures.quote(symbol)).collect()
    }

    /// Returns the known days on which a stock was split, went ex dividend, or its company reported earnings, also future ones.
    pub async fn event_days(&self, symbol: Symbol) -> Result<StockEventDays, ServiceError> {
        let splits = self.ports.store.splits_of(symbol).await?;
        let entry = self.catalog.get(symbol);
        let facts = entry.as_ref().map(|entry| &entry.facts);
        Ok(StockEventDays {
            splits: splits.into_iter().map(|split| split.date).collect(),
            ex_dividend: facts.map_or_else(Vec::new, |facts| {
                facts.dividends.iter().map(|row| row.ex_date).collect()
            }),
            earnings: facts.map_or_else(Vec::new, |facts| facts.earnings.iter().map(|row| row.date).collect()),
        })
    }

    /// Returns a stock with its figures, even if it is unknown: an alert refers to it.
    pub fn stock_view(&self, symbol: Symbol) -> StockView {
        self.figures().view(self.stock_row(symbol))
    }

    /// Returns several stocks with their figures, each computed once.
    pub fn stock_views(&self, symbols: impl Iterator<Item = Symbol>) -> BTreeMap<Symbol, StockView> {
        let mut views = BTreeMap::new();
        for symbol in symbols {
            views.entry(symbol).or_insert_with(|| self.stock_view(symbol));
        }
        views
    }

    /// Returns a stock's catalog row; without one its name is its symbol.
    pub fn stock_row(&self, symbol: Symbol) -> StockRow {
        let entry = self.catalog.get(symbol);
        entry.map_or_else(|| StockRow::named(symbol, symbol.as_str()), |entry| entry.row.clone())
    }

    /// Returns a stock's name; without an entry in the catalog it is its symbol.
    #[must_use]
    pub fn name_of(&self, symbol: Symbol) -> String {
        let entry = self.catalog.get(symbol);
        entry.map_or_else(|| symbol.as_str().to_owned(), |entry| entry.row.name.clone())
    }

    /// Whether a stock has a name.
    #[must_use]
    pub fn is_named(&self, symbol: Symbol, name: &str) -> bool {
        let entry = self.catalog.get(symbol);
        entry.map_or_else(|| symbol.as_str() == name, |entry| entry.row.name == name)
    }

    /// Returns the current figures of stocks.
    #[must_use]
    pub fn figures(&self) -> Figures<'_> {
        Figures {
            evaluator: &self.evaluator,
            now: self.ports.clock.now(),
        }
    }
}
