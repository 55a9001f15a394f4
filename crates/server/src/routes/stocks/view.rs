//! Stocks as JSON.

use market::calendar::new_york;
use market::records::StockRow;
use serde::Serialize;
use service::stocks::{Fundamentals, StockView};
use utoipa::ToSchema;

use crate::values::{date, decimal, price, timestamp};

/// Where a company belongs.
#[derive(Debug, Serialize, ToSchema)]
pub struct StockDetails {
    /// Where the company is at home.
    #[schema(required, example = "US")]
    pub country: Option<String>,
    /// Its sector.
    #[schema(required, example = "Technology")]
    pub sector: Option<String>,
    /// Its industry within the sector.
    #[schema(required, example = "Consumer Electronics")]
    pub industry: Option<String>,
    /// Where the stock is traded.
    #[schema(required, example = "NASDAQ")]
    pub exchange: Option<String>,
    /// The International Securities Identification Number.
    #[schema(required, example = "US0378331005")]
    pub isin: Option<String>,
}

impl StockDetails {
    /// Those of a stock of the catalog.
    #[must_use]
    pub fn of(row: StockRow) -> Self {
        Self {
            country: row.country,
            sector: row.sector,
            industry: row.industry,
            exchange: row.exchange,
            isin: row.isin,
        }
    }
}

/// A stock with its figures. Averages and RSI take the last price for today's close.
#[derive(Debug, Serialize, ToSchema)]
pub struct Stock {
    /// The stock.
    #[schema(example = "AAPL")]
    pub symbol: String,
    /// The company's name.
    #[schema(example = "Apple Inc.")]
    pub name: String,
    /// The last price; null until one is known.
    #[schema(required, example = 189.2)]
    pub last_price: Option<f64>,
    /// The close of the session before the running (or last) one.
    #[schema(required, example = 187.15)]
    pub previous_close: Option<f64>,
    /// Last price − previous close.
    #[schema(required, example = 2.05)]
    pub change: Option<f64>,
    /// The same in percent of the previous close.
    #[schema(required, example = 1.095_378)]
    pub change_percent: Option<f64>,
    /// The highest price of 52 weeks.
    #[schema(required, example = 199.62)]
    pub high_52w: Option<f64>,
    /// The lowest price of 52 weeks.
    #[schema(required, example = 164.08)]
    pub low_52w: Option<f64>,
    /// Wilder's RSI(14).
    #[schema(required, minimum = 0, maximum = 100, example = 55.2)]
    pub rsi: Option<f64>,
    /// The average of 50 sessions.
    #[schema(required, example = 185.1)]
    pub ma_50: Option<f64>,
    /// The average of 200 sessions.
    #[schema(required, example = 180.7)]
    pub ma_200: Option<f64>,
    /// The running (or last) session's shares so far.
    #[schema(required, minimum = 0, example = 51_234_000)]
    pub volume: Option<i64>,
    /// The average of the last 20 completed sessions' shares.
    #[schema(required, example = 49_870_123.5)]
    pub volume_ma_20: Option<f64>,
    /// The average of the last 100 completed sessions' shares.
    #[schema(required, example = 53_001_877.25)]
    pub volume_ma_100: Option<f64>,
    /// What it is: `stock`, `etf`, `adr`, ...
    #[serde(rename = "type")]
    #[schema(required, example = "stock")]
    pub kind: Option<String>,
    /// Whether it is still traded.
    pub is_active: bool,
    /// When the last price was observed.
    #[schema(required, format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub updated_at: Option<String>,
    /// Where the company belongs.
    pub details: StockDetails,
    /// What is known of the company's business; only with `fields=fundamentals`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub stock_fundamentals: Option<StockFundamentals>,
    /// The same as `stock_fundamentals`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub fundamentals: Option<StockFundamentals>,
}

impl Stock {
    /// As the service shows it.
    #[must_use]
    pub fn of(stock: StockView, fundamentals: Option<StockFundamentals>) -> Self {
        Self {
            symbol: stock.row.symbol.to_string(),
            name: stock.row.name.clone(),
            last_price: stock.last_price.map(price),
            previous_close: stock.previous_close.map(price),
            change: stock.change.map(decimal),
            change_percent: stock.change_percent.map(decimal),
            high_52w: stock.high_52w.map(price),
            low_52w: stock.low_52w.map(price),
            rsi: stock.rsi.map(decimal),
            ma_50: stock.ma_50.map(decimal),
            ma_200: stock.ma_200.map(decimal),
            volume: stock.volume,
            volume_ma_20: stock.volume_ma_20.map(decimal),
            volume_ma_100: stock.volume_ma_100.map(decimal),
            kind: stock.row.kind.clone(),
            is_active: stock.row.is_active,
            updated_at: stock.updated_at.map(timestamp),
            details: StockDetails::of(stock.row),
            stock_fundamentals: fundamentals.clone(),
            fundamentals,
        }
    }
}

/// What is known of a company's business.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct StockFundamentals {
    /// Earnings per share of the last twelve months.
    #[schema(required, example = 6.13)]
    pub eps_ttm: Option<f64>,
    /// Earnings per share expected for the next twelve months.
    #[schema(required, example = 6.8)]
    pub eps_forward: Option<f64>,
    /// Last price ÷ trailing earnings; null unless they are positive.
    #[schema(required, example = 30.864_6)]
    pub pe_ratio: Option<f64>,
    /// Last price ÷ forward earnings; null unless they are positive.
    #[schema(required, example = 27.823_529)]
    pub forward_pe: Option<f64>,
    /// What all shares are worth, in US dollars.
    #[schema(required, example = 2_900_000_000_000_i64)]
    pub market_cap: Option<f64>,
    /// The yearly dividend in percent of the price.
    #[schema(required, example = 0.52)]
    pub dividend_yield: Option<f64>,
    /// The yearly dividend in dollars per share.
    #[schema(required, example = 0.98)]
    pub dividend_amount: Option<f64>,
    /// The next ex-dividend date, or else the last.
    #[schema(required, format = Date, example = "2026-05-11")]
    pub ex_dividend_date: Option<String>,
    /// The payment date of that dividend.
    #[schema(required, format = Date, example = "2026-05-14")]
    pub dividend_payment_date: Option<String>,
    /// The next earnings date.
    #[schema(required, format = Date, example = "2026-04-30")]
    pub next_earnings_date: Option<String>,
    /// How strongly the price moves with the market's.
    #[schema(required, example = 1.2)]
    pub beta: Option<f64>,
    /// Since when the figures are known: the beginning of that day in New York.
    #[schema(required, format = DateTime, example = "2026-02-01T05:00:00.000Z")]
    pub updated_at: Option<String>,
}

impl StockFundamentals {
    /// As the service shows them.
    #[must_use]
    pub fn of(figures: Fundamentals) -> Self {
        Self {
            eps_ttm: figures.eps_ttm.map(decimal),
            eps_forward: figures.eps_forward.map(decimal),
            pe_ratio: figures.pe_ratio.map(decimal),
            forward_pe: figures.forward_pe.map(decimal),
            market_cap: figures.market_cap.map(decimal),
            dividend_yield: figures.dividend_yield.map(decimal),
            dividend_amount: figures.dividend_amount.map(decimal),
            ex_dividend_date: figures.ex_dividend_date.map(date),
            dividend_payment_date: figures.dividend_payment_date.map(date),
            next_earnings_date: figures.next_earnings_date.map(date),
            beta: figures.beta.map(decimal),
            updated_at: figures.updated_at.map(|day| timestamp(new_york(day, 0, 0))),
        }
    }
}
