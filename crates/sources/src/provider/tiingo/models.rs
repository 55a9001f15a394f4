//! What Tiingo sends.

use std::borrow::Cow;

use serde::Deserialize;

use crate::provider::json::Num;

/// An element of `/iex/`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Iex<'a> {
    pub(super) ticker: Cow<'a, str>,
    pub(super) timestamp: Option<Cow<'a, str>>,
    pub(super) last_sale_timestamp: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) last: Option<Num<'a>>,
    #[serde(borrow)]
    pub(super) tngo_last: Option<Num<'a>>,
    #[serde(borrow)]
    pub(super) bid_price: Option<Num<'a>>,
    #[serde(borrow)]
    pub(super) ask_price: Option<Num<'a>>,
}

/// A day of `/tiingo/daily/…/prices`, or a minute of `/iex/…/prices`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Prices<'a> {
    pub(super) date: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) open: Option<Num<'a>>,
    #[serde(borrow)]
    pub(super) high: Option<Num<'a>>,
    #[serde(borrow)]
    pub(super) low: Option<Num<'a>>,
    #[serde(borrow)]
    pub(super) close: Option<Num<'a>>,
    #[serde(borrow)]
    pub(super) volume: Option<Num<'a>>,
    #[serde(borrow)]
    pub(super) div_cash: Option<Num<'a>>,
    #[serde(borrow)]
    pub(super) split_factor: Option<Num<'a>>,
}

/// An element of `/tiingo/fundamentals/…/daily`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DailyFigures<'a> {
    pub(super) date: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) market_cap: Option<Num<'a>>,
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
    pub(super) value: Option<Num<'a>>,
}
