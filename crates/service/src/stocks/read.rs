//! Reading stocks.

use market::Symbol;
use market::records::StockRow;

use super::{Fundamentals, QuoteView, StockView};
use crate::{Service, ServiceError};

impl Service {
    /// A stock with its figures.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]
    pub fn stock(&self, _symbol: Symbol) -> Result<StockView, ServiceError> {
        todo!()
    }

    /// What is known of a stock's business.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]
    pub fn fundamentals(&self, _symbol: Symbol) -> Result<Fundamentals, ServiceError> {
        todo!()
    }

    /// The stocks whose symbol or name has `text` in it, in any case: those whose symbol begins with it first, then those whose
    /// name does; at most `limit`.
    #[must_use]
    pub fn search_stocks(&self, _text: &str, _limit: usize) -> Vec<StockRow> {
        todo!()
    }

    /// The last prices of stocks; one that is unknown is left out.
    #[must_use]
    pub fn quotes(&self, _symbols: &[Symbol]) -> Vec<QuoteView> {
        todo!()
    }
}
