//! What Alpaca sends over REST. Numbers stay as they were written, and elements that may be bad stay whole until they are read.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::provider::json::Num;

/// `/v2/stocks/snapshots`: by symbol, null where there is nothing.
pub(super) type Snapshots<'a> = BTreeMap<Cow<'a, str>, Option<&'a RawValue>>;

/// What was traded last, and the session so far.
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
    pub(super) p: Option<Num<'a>>,
    /// Its conditions.
    pub(super) c: Option<Vec<Cow<'a, str>>>,
    /// Its tape.
    pub(super) z: Option<Cow<'a, str>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Quote<'a> {
    #[serde(borrow)]
    pub(super) bp: Option<Num<'a>>,
    #[serde(borrow)]
    pub(super) ap: Option<Num<'a>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Bar<'a> {
    pub(super) t: Option<Cow<'a, str>>,
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

/// `/v2/stocks/bars`: a page.
#[derive(Debug, Deserialize)]
pub(super) struct Bars<'a> {
    #[serde(borrow)]
    pub(super) bars: Option<BTreeMap<Cow<'a, str>, Vec<&'a RawValue>>>,
    pub(super) next_page_token: Option<String>,
}

/// `/v1/corporate-actions`: a page.
#[derive(Debug, Deserialize)]
pub(super) struct Actions<'a> {
    #[serde(borrow)]
    pub(super) corporate_actions: ActionLists<'a>,
    pub(super) next_page_token: Option<String>,
}

/// The kinds that were asked for; others are left alone.
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
    pub(super) new_rate: Option<Num<'a>>,
    #[serde(borrow)]
    pub(super) old_rate: Option<Num<'a>>,
    pub(super) ex_date: Option<Cow<'a, str>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct CashDividend<'a> {
    pub(super) symbol: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) rate: Option<Num<'a>>,
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
