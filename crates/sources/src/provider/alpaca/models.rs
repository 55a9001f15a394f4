//! Alpaca's REST responses. Numbers stay text, and elements stay raw JSON, so that an invalid element does not fail the others.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::provider::json::JsonNumber;

/// The response of `/v2/stocks/snapshots`: snapshots by symbol, null if there is none.
pub(super) type Snapshots<'a> = BTreeMap<Cow<'a, str>, Option<&'a RawValue>>;

/// The latest trade and quote, and the current minute and session.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Snapshot<'a> {
    #[serde(borrow)]
    pub(super) latest_trade: Option<Trade<'a>>,
    #[serde(borrow)]
    pub(super) latest_quote: Option<Quote<'a>>,
    #[serde(borrow)]
    pub(super) minute_bar: Option<Bar<'a>>,
    #[serde(borrow)]
    pub(super) daily_bar: Option<Bar<'a>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Trade<'a> {
    pub(super) t: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) p: Option<JsonNumber<'a>>,
    /// The condition codes.
    pub(super) c: Option<Vec<Cow<'a, str>>>,
    /// The tape.
    pub(super) z: Option<Cow<'a, str>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Quote<'a> {
    #[serde(borrow)]
    pub(super) bp: Option<JsonNumber<'a>>,
    #[serde(borrow)]
    pub(super) ap: Option<JsonNumber<'a>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Bar<'a> {
    pub(super) t: Option<Cow<'a, str>>,
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
    #[serde(borrow)]
    pub(super) vw: Option<JsonNumber<'a>>,
}

/// A page of `/v2/stocks/bars`.
#[derive(Debug, Deserialize)]
pub(super) struct Bars<'a> {
    #[serde(borrow)]
    pub(super) bars: Option<BTreeMap<Cow<'a, str>, Vec<&'a RawValue>>>,
    pub(super) next_page_token: Option<String>,
}

/// A page of `/v1/corporate-actions`.
#[derive(Debug, Deserialize)]
pub(super) struct Actions<'a> {
    #[serde(borrow)]
    pub(super) corporate_actions: ActionLists<'a>,
    pub(super) next_page_token: Option<String>,
}

/// The requested kinds of corporate actions. Other kinds are ignored.
#[derive(Debug, Deserialize)]
pub(super) struct ActionLists<'a> {
    #[serde(borrow, default)]
    pub(super) forward_splits: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) reverse_splits: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) cash_dividends: Vec<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Split<'a> {
    pub(super) symbol: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) new_rate: Option<JsonNumber<'a>>,
    #[serde(borrow)]
    pub(super) old_rate: Option<JsonNumber<'a>>,
    pub(super) ex_date: Option<Cow<'a, str>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct CashDividend<'a> {
    pub(super) symbol: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) rate: Option<JsonNumber<'a>>,
    pub(super) ex_date: Option<Cow<'a, str>>,
    pub(super) payable_date: Option<Cow<'a, str>>,
}

/// An element of `/v2/assets`.
#[derive(Debug, Deserialize)]
pub(super) struct Asset<'a> {
    pub(super) symbol: Cow<'a, str>,
    pub(super) name: Option<Cow<'a, str>>,
    pub(super) exchange: Option<Cow<'a, str>>,
    pub(super) status: Option<Cow<'a, str>>,
}
