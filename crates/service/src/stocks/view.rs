//! Stocks as they are shown.

use jiff::Timestamp;
use jiff::civil::Date;
use market::records::StockRow;
use market::{Decimal, Price};

/// A stock with its figures. Averages and RSI take the current price as today's close.
#[derive(Clone, PartialEq, Debug)]
pub struct StockView {
    /// Its place in the catalog.
    pub row: StockRow,
    /// The last price.
    pub last_price: Option<Price>,
    /// The close of the session before the running (or last) one.
    pub previous_close: Option<Price>,
    /// Last price − previous close.
    pub change: Option<Decimal>,
    /// The same in percent of the previous close.
    pub change_percent: Option<Decimal>,
    /// The highest price of 52 weeks, the running session included.
    pub high_52w: Option<Price>,
    /// The lowest price of 52 weeks, the running session included.
    pub low_52w: Option<Price>,
    /// Wilder's RSI(14).
    pub rsi: Option<Decimal>,
    /// The average of 50 sessions.
    pub ma_50: Option<Decimal>,
    /// The average of 200 sessions.
    pub ma_200: Option<Decimal>,
    /// The running (or last) session's shares so far.
    pub volume: Option<i64>,
    /// The average of the last 20 completed sessions' shares.
    pub volume_ma_20: Option<Decimal>,
    /// The average of the last 100 completed sessions' shares.
    pub volume_ma_100: Option<Decimal>,
    /// When the last price was observed.
    pub updated_at: Option<Timestamp>,
}

/// What is known of a company's business.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Fundamentals {
    /// Earnings per share of the last twelve months.
    pub eps_ttm: Option<Decimal>,
    /// Earnings per share expected for the next twelve months.
    pub eps_forward: Option<Decimal>,
    /// Last price ÷ trailing earnings; `None` unless they are positive.
    pub pe_ratio: Option<Decimal>,
    /// Last price ÷ forward earnings; `None` unless they are positive.
    pub forward_pe: Option<Decimal>,
    /// What all shares are worth, in US dollars.
    pub market_cap: Option<Decimal>,
    /// The yearly dividend in percent of the price.
    pub dividend_yield: Option<Decimal>,
    /// The yearly dividend in dollars per share.
    pub dividend_amount: Option<Decimal>,
    /// The next ex-dividend date, or else the last.
    pub ex_dividend_date: Option<Date>,
    /// The payment date of that dividend.
    pub dividend_payment_date: Option<Date>,
    /// The next earnings date.
    pub next_earnings_date: Option<Date>,
    /// How strongly the price moves with the market's.
    pub beta: Option<Decimal>,
    /// Since when the figures are known.
    pub updated_at: Option<Date>,
}

/// A stock's last price.
#[derive(Clone, PartialEq, Debug)]
pub struct QuoteView {
    /// The stock.
    pub symbol: market::Symbol,
    /// The last price.
    pub price: Option<Price>,
    /// The close of the session before.
    pub previous_close: Option<Price>,
    /// Price − previous close.
    pub change: Option<Decimal>,
    /// The same in percent.
    pub change_percent: Option<Decimal>,
    /// The session's shares so far.
    pub volume: Option<i64>,
    /// When the price was observed.
    pub at: Option<Timestamp>,
}
