//! Stocks: the catalog, and what is known of each.

mod candles;
mod read;
mod view;

pub use candles::CandleRange;
pub use view::{Fundamentals, QuoteView, StockView};
