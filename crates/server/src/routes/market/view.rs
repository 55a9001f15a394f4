//! Prices of many stocks as JSON.

use serde::Serialize;
use service::market::ListedQuote;
use utoipa::ToSchema;

use crate::values::{decimal, price, timestamp};

/// A stock with its name and its last price.
#[derive(Debug, Serialize, ToSchema)]
pub struct Mover {
    /// The stock.
    #[schema(example = "AAPL")]
    pub symbol: String,
    /// The company's name.
    #[schema(example = "Apple Inc.")]
    pub name: String,
    /// The last price; null until one is known.
    #[schema(required, example = 189.2)]
    pub price: Option<f64>,
    /// The close of the session before the running (or last) one.
    #[schema(required, example = 187.15)]
    pub previous_close: Option<f64>,
    /// Price − previous close.
    #[schema(required, example = 2.05)]
    pub change: Option<f64>,
    /// The same in percent of the previous close.
    #[schema(required, example = 1.095_378)]
    pub change_percent: Option<f64>,
    /// The session's shares so far.
    #[schema(required, minimum = 0, example = 51_234_000)]
    pub volume: Option<i64>,
    /// When the price was observed.
    #[schema(required, format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub time: Option<String>,
}

impl Mover {
    /// That of a stock of the catalog.
    #[must_use]
    pub fn of(listed: ListedQuote) -> Self {
        let ListedQuote { row, quote } = listed;
        Self {
            symbol: row.symbol.to_string(),
            name: row.name,
            price: quote.price.map(price),
            previous_close: quote.previous_close.map(price),
            change: quote.change.map(decimal),
            change_percent: quote.change_percent.map(decimal),
            volume: quote.volume,
            time: quote.at.map(timestamp),
        }
    }
}
