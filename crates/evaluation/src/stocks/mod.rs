//! Stocks: the catalog and the data of each stock.
//!
//! The displayed values are the ones that alerts are evaluated by: prices, averages and RSI come from the engine,
//! names and fundamentals from the catalog. Only candles query the database. A stock is known if it is in the
//! catalog or has a price.

mod candles;
pub mod figures;
mod fundamentals;
mod read;
mod recorded;
mod search;
mod similar;
mod view;
mod whole_sessions;

use std::sync::Arc;

use crate::catalog::Catalog;
use crate::evaluator::Evaluator;
use crate::prices::Prices;
pub use candles::CandleRange;
use foundation::Ports;
pub use recorded::RecordedFacts;
pub use view::{Fundamentals, QuoteView, StockEventDays, StockView};

/// The catalog of stocks and the data of each stock.
#[derive(Clone)]
pub struct Stocks {
    pub(crate) ports: Ports,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) evaluator: Arc<Evaluator>,
    pub(crate) prices: Prices,
}
