//! Reading stocks.

use std::collections::BTreeMap;

use market::Symbol;
use market::records::StockRow;

use super::figures::Figures;
use super::{QuoteView, StockView};
use crate::{Service, ServiceError};

impl Service {
    /// A stock with its figures.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]
    pub fn stock(&self, symbol: Symbol) -> Result<StockView, ServiceError> {
        self.require_stock(symbol)?;
        Ok(self.stock_view(symbol))
    }

    /// The last prices of stocks; one that is unknown is left out.
    #[must_use]
    pub fn quotes(&self, symbols: &[Symbol]) -> Vec<QuoteView> {
        let figures = self.figures();
        let known = symbols.iter().filter(|symbol| self.require_stock(**symbol).is_ok());
        known.map(|&symbol| figures.quote(symbol)).collect()
    }

    /// Refuses a stock that is neither in the catalog nor has a price.
    pub(crate) fn require_stock(&self, symbol: Symbol) -> Result<(), ServiceError> {
        let is_known = self.0.catalog.get(symbol).is_some() || self.0.evaluator.last_price(symbol).is_some();
        if is_known {
            Ok(())
        } else {
            Err(ServiceError::NotFound("stock"))
        }
    }

    /// A stock with its figures, whether it is known or not: somebody has an alert of it.
    pub(crate) fn stock_view(&self, symbol: Symbol) -> StockView {
        self.figures().view(self.stock_row(symbol))
    }

    /// The same of several stocks, each looked at once.
    pub(crate) fn stock_views(&self, symbols: impl Iterator<Item = Symbol>) -> BTreeMap<Symbol, StockView> {
        let mut views = BTreeMap::new();
        for symbol in symbols {
            views.entry(symbol).or_insert_with(|| self.stock_view(symbol));
        }
        views
    }

    /// A stock's place in the catalog; without one it goes by its symbol.
    pub(crate) fn stock_row(&self, symbol: Symbol) -> StockRow {
        let entry = self.0.catalog.get(symbol);
        entry.map_or_else(|| StockRow::named(symbol, symbol.as_str()), |entry| entry.row.clone())
    }

    pub(crate) fn figures(&self) -> Figures<'_> {
        Figures {
            evaluator: &self.0.evaluator,
            calendar: &self.0.settings.calendar,
            now: self.0.ports.clock.now(),
        }
    }
}
