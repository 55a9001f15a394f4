//! The SEC's JSON responses.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

/// `company_tickers.json`: an object whose keys are positions in a list.
pub(super) type Tickers<'a> = BTreeMap<Cow<'a, str>, &'a RawValue>;

#[derive(Debug, Deserialize)]
pub(super) struct Ticker<'a> {
    pub(super) cik_str: u64,
    pub(super) ticker: Cow<'a, str>,
    pub(super) title: Cow<'a, str>,
}

/// The used part of `submissions/CIK….json`.
#[derive(Debug, Deserialize)]
pub(super) struct Submissions {
    pub(super) filings: Filings,
}

#[derive(Debug, Deserialize)]
pub(super) struct Filings {
    pub(super) recent: Recent,
}

/// The recent filings in columns: at least one year or 1,000 filings.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Recent {
    pub(super) accession_number: Vec<String>,
    pub(super) filing_date: Vec<String>,
    pub(super) form: Vec<String>,
    pub(super) primary_document: Vec<String>,
}
