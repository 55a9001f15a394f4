//! Stocks as they are displayed.

use jiff::Timestamp;
use jiff::civil::Date;
use market::records::StockRow;
use market::{Decimal, Price};

/// A stock with its figures. Averages and RSI take the current price as today's close.
#[derive(Clone, PartialEq, Debug)]
pub struct StockView {
    /// Its catalog row.
    pub row: StockRow,
    /// The last price.
    pub last_price: Option<Price>,
    /// The close of the session before the running (or last) one.
    pub previous_close: Option<Price>,
    /// Last price − previous close.
    pub change: Option<Decimal>,
    /// The change in percent of the previous close.
    pub change_percent: Option<Decimal>,
    /// The highest price of 52 weeks, including the running session.
    pub high_52w: Option<Price>,
    /// The lowest price of 52 weeks, including the running session.
    pub low_52w: Option<Price>,
    /// Wilder's RSI(14).
    pub rsi: Option<Decimal>,
    /// The simple moving average of 50 sessions.
    pub ma_50: Option<Decimal>,
    /// The simple moving average of 200 sessions.
    pub ma_200: Option<Decimal>,
    /// The volume of the running (or last) session so far, in shares.
    pub volume: Option<i64>,
    /// The average volume of the last 20 completed sessions, in shares.
    pub volume_ma_20: Option<Decimal>,
    /// The average volume of the last 100 completed sessions, in shares.
    pub volume_ma_100: Option<Decimal>,
    /// When the last price was observed.
    pub updated_at: Option<Timestamp>,
}

/// The fundamentals of a company.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Fundamentals {
    /// Earnings per share of the last twelve months.
    pub eps_ttm: Option<Decimal>,
    /// Earnings per share expected for the next twelve months.
    pub eps_forward: Option<Decimal>,
    /// Last price ÷ trailing earnings; `None` unless the earnings are positive.
    pub pe_ratio: Option<Decimal>,
    /// Last price ÷ forward earnings; `None` unless the earnings are positive.
    pub forward_pe: Option<Decimal>,
    /// The market capitalization in US dollars.
    pub market_cap: Option<Decimal>,
    /// The annual dividend in percent of the price.
    pub dividend_yield: Option<Decimal>,
    /// The annual dividend per share in US dollars.
    pub dividend_amount: Option<Decimal>,
    /// The next ex-dividend date, or else the last one.
    pub ex_dividend_date: Option<Date>,
    /// The payment date of that dividend.
    pub dividend_payment_date: Option<Date>,
    /// The next earnings date.
    pub next_earnings_date: Option<Date>,
    /// The beta: how strongly the price moves with the market.
    pub beta: Option<Decimal>,
    /// The date since which the figures are known.
    pub updated_at: Option<Date>,
}

/// Days on which something happened to a stock.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StockEventDays {
    /// The first sessions in new shares.
    pub splits: Vec<Date>,
    /// The ex-dividend dates.
    pub ex_dividend: Vec<Date>,
    /// The days of earnings reports.
    pub earnings: Vec<Date>,
}

/// A stock's last price.
#[derive(Clone, PartialEq, Debug)]
pub struct QuoteView {
    /// The stock.
    pub symbol: market::Symbol,
    /// The last price.
    pub price: Option<Price>,
    /// The close of the previous session.
    pub previous_close: Option<Price>,
    /// Price − previous close.
    pub change: Option<Decimal>,
    /// The change in percent of the previous close.
    pub change_percent: Option<Decimal>,
    /// The volume of the session so far, in shares.
    pub volume: Option<i64>,
    /// When the price was observed.
    pub at: Option<Timestamp>,
}
