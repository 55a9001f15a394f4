//! Massive's REST responses.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::provider::json::JsonNumber;

/// A page of `results`.
#[derive(Debug, Deserialize)]
pub(super) struct Results<'a> {
    #[serde(borrow, default)]
    pub(super) results: Vec<&'a RawValue>,
    pub(super) next_url: Option<String>,
}

/// A response with a single result.
#[derive(Debug, Deserialize)]
pub(super) struct SingleResult<'a> {
    #[serde(borrow)]
    pub(super) results: &'a RawValue,
}

/// An element of the catalog, or the overview of a ticker.
#[derive(Debug, Deserialize)]
pub(super) struct Ticker<'a> {
    pub(super) ticker: Cow<'a, str>,
    pub(super) name: Option<Cow<'a, str>>,
    pub(super) primary_exchange: Option<Cow<'a, str>>,
    #[serde(rename = "type")]
    pub(super) kind: Option<Cow<'a, str>>,
    pub(super) active: Option<bool>,
    #[serde(borrow)]
    pub(super) market_cap: Option<JsonNumber<'a>>,
}

/// A bar. `ticker` is present in responses about many stocks.
#[derive(Debug, Deserialize)]
pub(super) struct Bar<'a> {
    #[serde(rename = "T")]
    pub(super) ticker: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) t: Option<JsonNumber<'a>>,
    #[serde(borrow)]
    pub(super) o: Option<JsonNumber<'a>>,
    #[serde(borrow)]
    pub(super) h: Option<JsonNumber<'a>>,
    #[serde(borrow)]
    pub(super) l: Option<JsonNumber<'a>>,
    #[serde(borrow)]
    pub(super) c: Option<JsonNumber<'a>>,
    #[serde(borrow)]
    pub(super) v: Option<JsonNumber<'a>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Split<'a> {
    pub(super) ticker: Cow<'a, str>,
    pub(super) execution_date: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) split_from: Option<JsonNumber<'a>>,
    #[serde(borrow)]
    pub(super) split_to: Option<JsonNumber<'a>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Dividend<'a> {
    pub(super) ticker: Cow<'a, str>,
    pub(super) ex_dividend_date: Option<Cow<'a, str>>,
    pub(super) pay_date: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) cash_amount: Option<JsonNumber<'a>>,
}

/// Snapshots of many stocks.
#[derive(Debug, Deserialize)]
pub(super) struct Snapshots<'a> {
    #[serde(borrow, default)]
    pub(super) tickers: Vec<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Snapshot<'a> {
    pub(super) ticker: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) last_trade: Option<LastTrade<'a>>,
    #[serde(borrow)]
    pub(super) last_quote: Option<LastQuote<'a>>,
    #[serde(borrow)]
    pub(super) min: Option<Minute<'a>>,
    #[serde(borrow)]
    pub(super) day: Option<Day<'a>>,
    /// A Unix timestamp in nanoseconds.
    #[serde(borrow)]
    pub(super) updated: Option<JsonNumber<'a>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct LastTrade<'a> {
    #[serde(borrow)]
    pub(super) p: Option<JsonNumber<'a>>,
    /// A Unix timestamp in nanoseconds.
    #[serde(borrow)]
    pub(super) t: Option<JsonNumber<'a>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct LastQuote<'a> {
    #[serde(borrow)]
    pub(super) p: Option<JsonNumber<'a>>,
    #[serde(borrow, rename = "P")]
    pub(super) ask: Option<JsonNumber<'a>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Minute<'a> {
    #[serde(borrow)]
    pub(super) c: Option<JsonNumber<'a>>,
    /// A Unix timestamp in milliseconds.
    #[serde(borrow)]
    pub(super) t: Option<JsonNumber<'a>>,
    #[serde(borrow)]
    pub(super) av: Option<JsonNumber<'a>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Day<'a> {
    #[serde(borrow)]
    pub(super) c: Option<JsonNumber<'a>>,
    #[serde(borrow)]
    pub(super) v: Option<JsonNumber<'a>>,
    #[serde(borrow)]
    pub(super) vw: Option<JsonNumber<'a>>,
}
