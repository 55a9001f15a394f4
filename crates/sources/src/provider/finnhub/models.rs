//! What Finnhub sends over REST.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::provider::json::Num;

/// An element of `/stock/symbol`.
#[derive(Debug, Deserialize)]
pub(super) struct StockSymbol<'a> {
    pub(super) symbol: Cow<'a, str>,
    pub(super) description: Option<Cow<'a, str>>,
    pub(super) mic: Option<Cow<'a, str>>,
    #[serde(rename = "type")]
    pub(super) kind: Option<Cow<'a, str>>,
    pub(super) isin: Option<Cow<'a, str>>,
}

/// `/quote`.
#[derive(Debug, Deserialize)]
pub(super) struct Quote<'a> {
    #[serde(borrow)]
    pub(super) c: Option<Num<'a>>,
    #[serde(borrow)]
    pub(super) t: Option<Num<'a>>,
}

/// `/stock/candle`: columns.
#[derive(Debug, Deserialize)]
pub(super) struct Candles<'a> {
    pub(super) s: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) t: Vec<Num<'a>>,
    #[serde(borrow, default)]
    pub(super) o: Vec<Num<'a>>,
    #[serde(borrow, default)]
    pub(super) h: Vec<Num<'a>>,
    #[serde(borrow, default)]
    pub(super) l: Vec<Num<'a>>,
    #[serde(borrow, default)]
    pub(super) c: Vec<Num<'a>>,
    #[serde(borrow, default)]
    pub(super) v: Vec<Num<'a>>,
}

/// `/stock/metric`.
#[derive(Debug, Deserialize)]
pub(super) struct Metrics<'a> {
    #[serde(borrow)]
    pub(super) metric: Metric<'a>,
}

/// The figures that matter, of more than a hundred.
#[derive(Debug, Deserialize)]
pub(super) struct Metric<'a> {
    #[serde(borrow, rename = "epsTTM")]
    pub(super) eps_ttm: Option<Num<'a>>,
    #[serde(borrow, rename = "epsInclExtraItemsTTM")]
    pub(super) eps_incl_extra_ttm: Option<Num<'a>>,
    /// In millions of dollars.
    #[serde(borrow, rename = "marketCapitalization")]
    pub(super) market_cap: Option<Num<'a>>,
    #[serde(borrow, rename = "dividendPerShareAnnual")]
    pub(super) dividend: Option<Num<'a>>,
    #[serde(borrow, rename = "dividendYieldIndicatedAnnual")]
    pub(super) dividend_yield: Option<Num<'a>>,
    #[serde(borrow)]
    pub(super) beta: Option<Num<'a>>,
}

/// `/calendar/earnings`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct EarningsCalendar<'a> {
    #[serde(borrow)]
    pub(super) earnings_calendar: Option<Vec<&'a RawValue>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Earnings<'a> {
    pub(super) symbol: Cow<'a, str>,
    pub(super) date: Option<Cow<'a, str>>,
    pub(super) hour: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) eps_estimate: Option<Num<'a>>,
}

/// An element of `/stock/dividend`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Dividend<'a> {
    pub(super) date: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) amount: Option<Num<'a>>,
    pub(super) pay_date: Option<Cow<'a, str>>,
}

/// An element of `/stock/split`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Split<'a> {
    pub(super) date: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) from_factor: Option<Num<'a>>,
    #[serde(borrow)]
    pub(super) to_factor: Option<Num<'a>>,
}

/// `/stock/insider-transactions` and `/stock/social-sentiment`.
#[derive(Debug, Deserialize)]
pub(super) struct Data<'a> {
    #[serde(borrow, default)]
    pub(super) data: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) reddit: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) twitter: Vec<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InsiderTransaction<'a> {
    pub(super) name: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) change: Option<Num<'a>>,
    pub(super) filing_date: Option<Cow<'a, str>>,
    pub(super) transaction_date: Option<Cow<'a, str>>,
    pub(super) transaction_code: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) transaction_price: Option<Num<'a>>,
    #[serde(default)]
    pub(super) is_derivative: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Sentiment<'a> {
    pub(super) at_time: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) mention: Option<Num<'a>>,
}
