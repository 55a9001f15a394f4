//! Tiingo's responses.

use std::borrow::Cow;

use serde::Deserialize;

use crate::provider::json::JsonNumber;

/// An element of `/iex/`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Iex<'a> {
    pub(super) ticker: Cow<'a, str>,
    pub(super) timestamp: Option<Cow<'a, str>>,
    pub(super) last_sale_timestamp: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) last: Option<JsonNumber<'a>>,
    #[serde(borrow)]
    pub(super) tngo_last: Option<JsonNumber<'a>>,
    #[serde(borrow)]
    pub(super) bid_price: Option<JsonNumber<'a>>,
    #[serde(borrow)]
    pub(super) ask_price: Option<JsonNumber<'a>>,
}

/// A day of `/tiingo/daily/…/prices`, or a minute of `/iex/…/prices`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PriceBar<'a> {
    pub(super) date: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) open: Option<JsonNumber<'a>>,
    #[serde(borrow)]
    pub(super) high: Option<JsonNumber<'a>>,
    #[serde(borrow)]
    pub(super) low: Option<JsonNumber<'a>>,
    #[serde(borrow)]
    pub(super) close: Option<JsonNumber<'a>>,
    #[serde(borrow)]
    pub(super) volume: Option<JsonNumber<'a>>,
    #[serde(borrow)]
    pub(super) div_cash: Option<JsonNumber<'a>>,
    #[serde(borrow)]
    pub(super) split_factor: Option<JsonNumber<'a>>,
}

/// An element of `/tiingo/fundamentals/…/daily`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DailyFigures<'a> {
    pub(super) date: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) market_cap: Option<JsonNumber<'a>>,
}

/// An element of `/tiingo/fundamentals/…/statements`; quarter 0 is a whole year.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Statement<'a> {
    pub(super) date: Option<Cow<'a, str>>,
    pub(super) year: i32,
    pub(super) quarter: u8,
    #[serde(borrow)]
    pub(super) statement_data: StatementData<'a>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StatementData<'a> {
    #[serde(borrow, default)]
    pub(super) income_statement: Vec<Item<'a>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Item<'a> {
    pub(super) data_code: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) value: Option<JsonNumber<'a>>,
}
