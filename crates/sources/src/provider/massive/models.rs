//! What Massive sends over REST.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::provider::json::Num;

/// A page of anything that comes in `results`.
#[derive(Debug, Deserialize)]
pub(super) struct Results<'a> {
    #[serde(borrow, default)]
    pub(super) results: Vec<&'a RawValue>,
    pub(super) next_url: Option<String>,
}

/// One of anything.
#[derive(Debug, Deserialize)]
pub(super) struct One<'a> {
    #[serde(borrow)]
    pub(super) results: &'a RawValue,
}

/// An element of the catalog, or a ticker's overview.
#[derive(Debug, Deserialize)]
pub(super) struct Ticker<'a> {
    pub(super) ticker: Cow<'a, str>,
    pub(super) name: Option<Cow<'a, str>>,
    pub(super) primary_exchange: Option<Cow<'a, str>>,
    #[serde(rename = "type")]
    pub(super) kind: Option<Cow<'a, str>>,
    pub(super) active: Option<bool>,
    #[serde(borrow)]
    pub(super) market_cap: Option<Num<'a>>,
}

/// A bar; `ticker` where it is one of many stocks.
#[derive(Debug, Deserialize)]
pub(super) struct Bar<'a> {
    #[serde(rename = "T")]
    pub(super) ticker: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) t: Option<Num<'a>>,
    #[serde(borrow)]
    pub(super) o: Option<Num<'a>>,
    #[serde(borrow)]
    pub(super) h: Option<Num<'a>>,
    #[serde(borrow)]
    pub(super) l: Option<Num<'a>>,
    #[serde(borrow)]
    pub(super) c: Option<Num<'a>>,
    #[serde(borrow)]
    pub(super) v: Option<Num<'a>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Split<'a> {
    pub(super) ticker: Cow<'a, str>,
    pub(super) execution_date: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) split_from: Option<Num<'a>>,
    #[serde(borrow)]
    pub(super) split_to: Option<Num<'a>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Dividend<'a> {
    pub(super) ticker: Cow<'a, str>,
    pub(super) ex_dividend_date: Option<Cow<'a, str>>,
    pub(super) pay_date: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) cash_amount: Option<Num<'a>>,
}

/// The snapshot of many stocks.
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
    /// In nanoseconds.
    #[serde(borrow)]
    pub(super) updated: Option<Num<'a>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct LastTrade<'a> {
    #[serde(borrow)]
    pub(super) p: Option<Num<'a>>,
    /// In nanoseconds.
    #[serde(borrow)]
    pub(super) t: Option<Num<'a>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct LastQuote<'a> {
    #[serde(borrow)]
    pub(super) p: Option<Num<'a>>,
    #[serde(borrow, rename = "P")]
    pub(super) ask: Option<Num<'a>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Minute<'a> {
    #[serde(borrow)]
    pub(super) c: Option<Num<'a>>,
    /// In milliseconds.
    #[serde(borrow)]
    pub(super) t: Option<Num<'a>>,
    #[serde(borrow)]
    pub(super) av: Option<Num<'a>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Day<'a> {
    #[serde(borrow)]
    pub(super) c: Option<Num<'a>>,
    #[serde(borrow)]
    pub(super) v: Option<Num<'a>>,
}
