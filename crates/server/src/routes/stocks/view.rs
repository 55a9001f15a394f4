//! Stocks in responses.

use evaluation::stocks::{Fundamentals, StockView};
use market::calendar::new_york;
use market::records::StockRow;

use crate::routes::prelude::*;

/// Details of a company.
#[derive(Debug, Serialize, ToSchema)]
pub struct StockDetails {
    /// Country of the company.
    #[schema(required, example = "US")]
    pub country: Option<String>,
    /// Sector.
    #[schema(required, example = "Technology")]
    pub sector: Option<String>,
    /// Industry within the sector.
    #[schema(required, example = "Consumer Electronics")]
    pub industry: Option<String>,
    /// Exchange.
    #[schema(required, example = "NASDAQ")]
    pub exchange: Option<String>,
    /// International Securities Identification Number.
    #[schema(required, example = "US0378331005")]
    pub isin: Option<String>,
}

impl StockDetails {
    pub(crate) fn of(row: StockRow) -> Self {
        Self {
            country: row.country,
            sector: row.sector,
            industry: row.industry,
            exchange: row.exchange,
            isin: row.isin,
        }
    }
}

/// A stock with its figures. Averages and RSI use the last price as today's close.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Stock)]
pub struct StockResponse {
    /// Stock symbol.
    #[schema(example = "AAPL")]
    pub symbol: String,
    /// Company name.
    #[schema(example = "Apple Inc.")]
    pub name: String,
    /// Last price; null until one is known.
    #[schema(required, example = 189.2)]
    pub last_price: Option<f64>,
    /// Close of the session before the current (or last) one.
    #[schema(required, example = 187.15)]
    pub previous_close: Option<f64>,
    /// Last price minus previous close.
    #[schema(required, example = 2.05)]
    pub change: Option<f64>,
    /// Change in percent of the previous close.
    #[schema(required, example = 1.095_378)]
    pub change_percent: Option<f64>,
    /// 52-week high.
    #[schema(required, example = 199.62)]
    pub high_52w: Option<f64>,
    /// 52-week low.
    #[schema(required, example = 164.08)]
    pub low_52w: Option<f64>,
    /// Wilder's RSI(14).
    #[schema(required, minimum = 0, maximum = 100, example = 55.2)]
    pub rsi: Option<f64>,
    /// 50-day moving average.
    #[schema(required, example = 185.1)]
    pub ma_50: Option<f64>,
    /// 200-day moving average.
    #[schema(required, example = 180.7)]
    pub ma_200: Option<f64>,
    /// Volume of the current (or last) session so far, in shares.
    #[schema(required, minimum = 0, example = 51_234_000)]
    pub volume: Option<i64>,
    /// Average volume of the last 20 completed sessions, in shares.
    #[schema(required, example = 49_870_123.5)]
    pub volume_ma_20: Option<f64>,
    /// Average volume of the last 100 completed sessions, in shares.
    #[schema(required, example = 53_001_877.25)]
    pub volume_ma_100: Option<f64>,
    /// Kind of instrument: `stock`, `etf`, `adr`, ...
    #[serde(rename = "type")]
    #[schema(required, example = "stock")]
    pub kind: Option<String>,
    /// Whether the stock is still traded.
    pub is_active: bool,
    /// Time of the last price.
    #[schema(required, format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub updated_at: Option<String>,
    /// Details of the company.
    pub details: StockDetails,
    /// Fundamentals; only present with `fields=fundamentals`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub stock_fundamentals: Option<StockFundamentals>,
    /// Same as `stock_fundamentals`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub fundamentals: Option<StockFundamentals>,
}

impl StockResponse {
    pub(crate) fn of(stock: StockView, fundamentals: Option<StockFundamentals>) -> Self {
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

/// Fundamentals of a company.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct StockFundamentals {
    /// Earnings per share of the last twelve months.
    #[schema(required, example = 6.13)]
    pub eps_ttm: Option<f64>,
    /// Earnings per share expected for the next twelve months.
    #[schema(required, example = 6.8)]
    pub eps_forward: Option<f64>,
    /// Last price ÷ trailing earnings per share; null unless these are positive.
    #[schema(required, example = 30.864_6)]
    pub pe_ratio: Option<f64>,
    /// Last price ÷ forward earnings per share; null unless these are positive.
    #[schema(required, example = 27.823_529)]
    pub forward_pe: Option<f64>,
    /// Market capitalization in US dollars.
    #[schema(required, example = 2_900_000_000_000_i64)]
    pub market_cap: Option<f64>,
    /// Annual dividend in percent of the price.
    #[schema(required, example = 0.52)]
    pub dividend_yield: Option<f64>,
    /// Annual dividend in US dollars per share.
    #[schema(required, example = 0.98)]
    pub dividend_amount: Option<f64>,
    /// Next ex-dividend date or, if unknown, the last one.
    #[schema(required, format = Date, example = "2026-05-11")]
    pub ex_dividend_date: Option<String>,
    /// Payment date of that dividend.
    #[schema(required, format = Date, example = "2026-05-14")]
    pub dividend_payment_date: Option<String>,
    /// Next earnings date.
    #[schema(required, format = Date, example = "2026-04-30")]
    pub next_earnings_date: Option<String>,
    /// Beta: sensitivity of the price to the market.
    #[schema(required, example = 1.2)]
    pub beta: Option<f64>,
    /// Day of the figures, as the start of that day in New York.
    #[schema(required, format = DateTime, example = "2026-02-01T05:00:00.000Z")]
    pub updated_at: Option<String>,
}

impl StockFundamentals {
    pub(crate) fn of(figures: Fundamentals) -> Self {
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
