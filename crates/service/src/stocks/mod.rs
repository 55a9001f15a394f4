//! Stocks: the catalog, and what is known of each.
//!
//! What is shown of a stock is what its alerts are judged by: prices, averages and RSI come from the engine, names and
//! figures of the business from the catalog; only candles ask the database. A stock is known when it is in the catalog or
//! when there is a price of it.

mod candles;
pub(crate) mod figures;
mod fundamentals;
mod read;
mod search;
mod similar;
mod view;

use std::sync::Arc;

use crate::Ports;
use crate::catalog::Catalog;
use crate::evaluator::Evaluator;
use crate::prices::Prices;
pub use candles::CandleRange;
pub use view::{Fundamentals, QuoteView, StockView};

/// The catalog of stocks and the data of each stock.
#[derive(Clone)]
pub struct Stocks {
    pub(crate) ports: Ports,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) evaluator: Arc<Evaluator>,
    pub(crate) prices: Prices,
}
