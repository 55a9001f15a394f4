//! What the SEC sends as JSON.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

/// `company_tickers.json`: an object whose keys are places in a list.
pub(super) type Tickers<'a> = BTreeMap<Cow<'a, str>, &'a RawValue>;

#[derive(Debug, Deserialize)]
pub(super) struct Ticker<'a> {
    pub(super) cik_str: u64,
    pub(super) ticker: Cow<'a, str>,
    pub(super) title: Cow<'a, str>,
}

/// `submissions/CIK….json`, as far as it matters.
#[derive(Debug, Deserialize)]
pub(super) struct Submissions {
    pub(super) filings: Filings,
}

#[derive(Debug, Deserialize)]
pub(super) struct Filings {
    pub(super) recent: Recent,
}

/// Columns of one table: at least a year or a thousand filings.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Recent {
    pub(super) accession_number: Vec<String>,
    pub(super) filing_date: Vec<String>,
    pub(super) form: Vec<String>,
    pub(super) primary_document: Vec<String>,
}
