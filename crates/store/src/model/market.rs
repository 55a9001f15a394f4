//! Market data that the engine needs after a restart.

use jiff::Timestamp;
use jiff::civil::Date;
use market::records::{DividendRow, EarningsRow, FundamentalsRow};
use market::{Price, Symbol};

/// The latest quote of a stock, with its session so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LatestQuote {
    /// The stock.
    pub symbol: Symbol,
    /// Date of the session in New York.
    pub session: Date,
    /// First price of the session.
    pub open: Price,
    /// Highest price so far.
    pub high: Price,
    /// Lowest price so far.
    pub low: Price,
    /// Last price.
    pub last: Price,
    /// Volume so far in shares, if a quote contained it.
    pub volume: Option<i64>,
    /// Time at which the last price was evaluated.
    pub at: Timestamp,
    /// Time at which the last price was made, according to its quote. `None`: equal to `at`.
    pub made_at: Option<Timestamp>,
    /// Newest bid of the session, if an alert used it.
    pub bid: Option<Price>,
    /// Newest ask of the session, if an alert used it.
    pub ask: Option<Price>,
    /// Newest volume-weighted average price of the session, if an alert used it.
    pub vwap: Option<Price>,
}

/// The newest price of a stock in extended hours, which an alert is judged by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LatestExtendedPrice {
    /// The stock.
    pub symbol: Symbol,
    /// Date in New York of the session to which the price belongs: the one that opens next.
    pub session: Date,
    /// The price.
    pub price: Price,
    /// Time at which it was evaluated.
    pub at: Timestamp,
    /// Newest bid since the close before the session.
    pub bid: Option<Price>,
    /// Newest ask since the close before the session.
    pub ask: Option<Price>,
}

/// Known data of a stock except prices.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StockFacts {
    /// Latest figures.
    pub fundamentals: Option<FundamentalsRow>,
    /// All earnings, by date.
    pub earnings: Vec<EarningsRow>,
    /// All dividends, by ex-date.
    pub dividends: Vec<DividendRow>,
}
