//! What is known of the market, as the engine needs it back after a restart.

use jiff::Timestamp;
use jiff::civil::Date;
use market::records::{DividendRow, EarningsRow, FundamentalsRow};
use market::{Price, Symbol};

/// The last observation of a stock, and what its session has seen until then.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LatestQuote {
    /// The stock.
    pub symbol: Symbol,
    /// The date of the session in New York.
    pub session: Date,
    /// The session's first price.
    pub open: Price,
    /// Its highest price so far.
    pub high: Price,
    /// Its lowest price so far.
    pub low: Price,
    /// Its last price.
    pub last: Price,
    /// Its shares so far, if any quote said.
    pub volume: Option<i64>,
    /// When the last price was judged.
    pub at: Timestamp,
    /// When the last price was made, by its quote; `None`: at that instant.
    pub made_at: Option<Timestamp>,
}

/// What is known of one stock beside prices.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StockFacts {
    /// The figures known last.
    pub fundamentals: Option<FundamentalsRow>,
    /// All earnings dates, by date.
    pub earnings: Vec<EarningsRow>,
    /// All dividends, by ex-date.
    pub dividends: Vec<DividendRow>,
}
