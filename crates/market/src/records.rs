//! Records: facts about stocks that sources deliver, the store keeps and the service processes.
//!
//! Each record is one validated fact about one stock. All crates use these types, so they are defined here.

mod batch;
mod insiders;

use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

pub use batch::Batch;
pub use insiders::{InsiderRow, TransactionSide, WithdrawnFiling};

use crate::{Bar, Decimal, IntradayBar, Price, SplitRatio, Symbol};

/// A split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SplitRow {
    /// The stock.
    pub symbol: Symbol,
    /// The first session in new shares.
    pub date: Date,
    /// New shares per old share.
    pub ratio: SplitRatio,
}

/// A dividend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DividendRow {
    /// The stock.
    pub symbol: Symbol,
    /// The first session without a claim to the dividend.
    pub ex_date: Date,
    /// The payment date.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payment_date: Option<Date>,
    /// Dollars per share, zero or more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<Decimal>,
}

/// The time of day at which a company reports its earnings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EarningsTime {
    /// Before the session.
    BeforeOpen,
    /// After the session.
    AfterClose,
    /// Unknown.
    #[default]
    #[serde(other)]
    Unknown,
}

impl EarningsTime {
    const fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown)
    }
}

/// A date on which a company reports its earnings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarningsRow {
    /// The stock.
    pub symbol: Symbol,
    /// The date of the report.
    pub date: Date,
    /// Before or after the session.
    #[serde(default, skip_serializing_if = "EarningsTime::is_unknown")]
    pub time: EarningsTime,
    /// Expected earnings per share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eps_estimate: Option<Decimal>,
}

/// Earnings per share and other fundamentals, known from a date on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FundamentalsRow {
    /// The stock.
    pub symbol: Symbol,
    /// The date from which the figures are known.
    pub as_of: Date,
    /// Earnings per share of the last twelve months; negative for a loss.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eps_ttm: Option<Decimal>,
    /// Earnings per share expected for the next twelve months; negative for a loss.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eps_forward: Option<Decimal>,
    /// The market capitalisation in US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub market_cap: Option<Decimal>,
    /// The yearly dividend as a percentage of the price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dividend_yield: Option<Decimal>,
    /// The yearly dividend in dollars per share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dividend_amount: Option<Decimal>,
    /// The price's sensitivity to the market's moves; 1 means equal moves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta: Option<Decimal>,
}

/// The number of mentions of a stock in one hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MentionRow {
    /// The stock.
    pub symbol: Symbol,
    /// The hour, as the instant given by the source.
    pub time: Timestamp,
    /// The number of mentions.
    pub mentions: u32,
}

/// A stock in the catalog.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StockRow {
    /// The stock.
    pub symbol: Symbol,
    /// The company's name.
    pub name: String,
    /// The type of security: `stock`, `etf`, `adr`, ...
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The company's sector.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sector: Option<String>,
    /// The company's industry within the sector.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub industry: Option<String>,
    /// The company's home country.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
    /// The exchange on which the stock is traded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exchange: Option<String>,
    /// The International Securities Identification Number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub isin: Option<String>,
    /// Whether it is still traded.
    #[serde(default = "is_active_by_default", skip_serializing_if = "Clone::clone")]
    pub is_active: bool,
}

const fn is_active_by_default() -> bool {
    true
}

impl StockRow {
    /// Returns a stock of which only the name is known.
    #[must_use]
    pub fn named(symbol: Symbol, name: impl Into<String>) -> Self {
        Self {
            symbol,
            name: name.into(),
            kind: None,
            sector: None,
            industry: None,
            country: None,
            exchange: None,
            isin: None,
            is_active: true,
        }
    }
}

/// One observation of a stock's price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuoteRow {
    /// The stock.
    pub symbol: Symbol,
    /// The price of the last trade.
    pub price: Price,
    /// The session's volume so far, in shares (a total, not an increment).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume: Option<i64>,
    /// The time of the price; `None` means now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Timestamp>,
    /// The best bid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bid: Option<Price>,
    /// The best ask.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ask: Option<Price>,
    /// The volume-weighted average price of the session so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vwap: Option<Price>,
}

/// A completed session of a stock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BarRow {
    /// The stock.
    pub symbol: Symbol,
    /// The session.
    pub bar: Bar,
}

/// A bar of a part of a session of a stock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntradayRow {
    /// The stock.
    pub symbol: Symbol,
    /// The bar.
    pub bar: IntradayBar,
}
