//! Daily candles.

use market::{Bar, Symbol};

use crate::{Service, ServiceError};

/// How far back candles go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CandleRange {
    /// One month.
    Month1,
    /// Three months.
    Month3,
    /// Six months.
    Month6,
    /// One year.
    Year1,
    /// Five years.
    Year5,
    /// All there is.
    Max,
}

impl Service {
    /// A stock's daily candles, oldest first; the last one is the running session's, as far as it has come.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] for a stock that is not in the catalog.
    pub async fn candles(&self, _symbol: Symbol, _range: CandleRange) -> Result<Vec<Bar>, ServiceError> {
        todo!()
    }
}
