//! ApeWisdom's responses.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::provider::json::JsonNumber;

/// A page of stocks.
#[derive(Debug, Deserialize)]
pub(super) struct Page<'a> {
    pub(super) pages: u32,
    pub(super) current_page: u32,
    #[serde(borrow)]
    pub(super) results: Vec<&'a RawValue>,
}

/// A stock's mentions. Numbers may be strings.
#[derive(Debug, Deserialize)]
pub(super) struct Mentioned<'a> {
    pub(super) ticker: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) mentions: Option<JsonNumber<'a>>,
}
