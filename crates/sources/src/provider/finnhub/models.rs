//! Finnhub's REST responses.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::provider::json::JsonNumber;

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

/// The response of `/quote`.
#[derive(Debug, Deserialize)]
pub(super) struct Quote<'a> {
    #[serde(borrow)]
    pub(super) c: Option<JsonNumber<'a>>,
    #[serde(borrow)]
    pub(super) t: Option<JsonNumber<'a>>,
}

/// The response of `/stock/candle`, in columns.
#[derive(Debug, Deserialize)]
pub(super) struct Candles<'a> {
    pub(super) s: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) t: Vec<JsonNumber<'a>>,
    #[serde(borrow, default)]
    pub(super) o: Vec<JsonNumber<'a>>,
    #[serde(borrow, default)]
    pub(super) h: Vec<JsonNumber<'a>>,
    #[serde(borrow, default)]
    pub(super) l: Vec<JsonNumber<'a>>,
    #[serde(borrow, default)]
    pub(super) c: Vec<JsonNumber<'a>>,
    #[serde(borrow, default)]
    pub(super) v: Vec<JsonNumber<'a>>,
}

/// The response of `/stock/metric`.
#[derive(Debug, Deserialize)]
pub(super) struct Metrics<'a> {
    #[serde(borrow)]
    pub(super) metric: Metric<'a>,
}

/// The used metrics, of more than a hundred.
#[derive(Debug, Deserialize)]
pub(super) struct Metric<'a> {
    #[serde(borrow, rename = "epsTTM")]
    pub(super) eps_ttm: Option<JsonNumber<'a>>,
    #[serde(borrow, rename = "epsInclExtraItemsTTM")]
    pub(super) eps_incl_extra_ttm: Option<JsonNumber<'a>>,
    /// Millions of US dollars.
    #[serde(borrow, rename = "marketCapitalization")]
    pub(super) market_cap: Option<JsonNumber<'a>>,
    #[serde(borrow, rename = "dividendPerShareAnnual")]
    pub(super) dividend: Option<JsonNumber<'a>>,
    #[serde(borrow, rename = "dividendYieldIndicatedAnnual")]
    pub(super) dividend_yield: Option<JsonNumber<'a>>,
    #[serde(borrow)]
    pub(super) beta: Option<JsonNumber<'a>>,
}

/// The response of `/calendar/earnings`.
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
    pub(super) eps_estimate: Option<JsonNumber<'a>>,
}

/// An element of `/stock/dividend`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Dividend<'a> {
    pub(super) date: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) amount: Option<JsonNumber<'a>>,
    pub(super) pay_date: Option<Cow<'a, str>>,
}

/// An element of `/stock/split`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Split<'a> {
    pub(super) date: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) from_factor: Option<JsonNumber<'a>>,
    #[serde(borrow)]
    pub(super) to_factor: Option<JsonNumber<'a>>,
}

/// The response of `/stock/insider-transactions` and `/stock/social-sentiment`.
#[derive(Debug, Deserialize)]
pub(super) struct DataList<'a> {
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
    pub(super) change: Option<JsonNumber<'a>>,
    pub(super) filing_date: Option<Cow<'a, str>>,
    pub(super) transaction_date: Option<Cow<'a, str>>,
    pub(super) transaction_code: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) transaction_price: Option<JsonNumber<'a>>,
    #[serde(default)]
    pub(super) is_derivative: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Sentiment<'a> {
    pub(super) at_time: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) mention: Option<JsonNumber<'a>>,
}
