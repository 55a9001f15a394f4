//! Parser of the SEC's lists.

use std::collections::BTreeMap;

use jiff::civil::Date;
use market::Symbol;
use market::records::StockRow;

use super::NAME;
use super::models::{Submissions, Ticker, Tickers};
use crate::folder::text;
use crate::provider::ticker_style::TickerStyle;
use crate::provider::{DataResponse, DateRange, InvalidRow, ProviderError, json};

/// The SEC's identifier of a registrant (Central Index Key).
pub(super) type Cik = u64;

/// Parses the ticker list into the registrants by ticker and the catalog.
pub(super) fn tickers(body: &[u8]) -> Result<(BTreeMap<Symbol, Cik>, DataResponse), ProviderError> {
    let tickers: Tickers<'_> = json::parse_body(NAME, body)?;
    let (mut registrants, mut response) = (BTreeMap::new(), DataResponse::default());
    for element in tickers.values() {
        let Some(ticker) = response.parse::<Ticker<'_>>("a ticker", element) else {
            continue;
        };
        let Some(symbol) = TickerStyle::Dash.read(&ticker.ticker) else {
            response.invalid_rows.record(InvalidRow::with_message(
                &ticker.ticker,
                "ticker",
                &ticker.ticker,
                "is not a supported ticker",
            ));
            continue;
        };
        registrants.insert(symbol, ticker.cik_str);
        response.batch.stocks.push(StockRow::named(symbol, ticker.title.trim()));
    }
    Ok((registrants, response))
}

/// The location and the date of a filing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FilingLocation {
    pub(super) filed_on: Date,
    /// The filing's accession number, the same in every list.
    pub(super) accession: String,
    /// The path after `Archives/`.
    pub(super) path: Vec<String>,
}

/// Returns whether the form is a Form 4 or an amendment of one.
fn is_form_4(form: &str) -> bool {
    matches!(form.trim(), "4" | "4/A")
}

/// Parses the Form 4 filings about a company within `days`.
pub(super) fn submissions(body: &[u8], cik: Cik, days: DateRange) -> Result<Vec<FilingLocation>, ProviderError> {
    let submissions: Submissions = json::parse_body(NAME, body)?;
    let recent = submissions.filings.recent;
    let rows = recent.form.iter().zip(&recent.filing_date);
    let rows = rows.zip(recent.accession_number.iter().zip(&recent.primary_document));
    let locations = rows
        .filter(|((form, _), _)| is_form_4(form))
        .filter_map(|((_, filed), (accession, document))| {
            let filed_on = text::date(filed).ok().filter(|&date| days.contains(date))?;
            // The listed document is rendered HTML; the XML source has the same name in the parent folder.
            let document = document
                .rsplit('/')
                .next()
                .filter(|document| document.ends_with(".xml"))?;
            Some(FilingLocation {
                filed_on,
                accession: accession.clone(),
                path: ["edgar", "data", &cik.to_string(), &accession.replace('-', ""), document]
                    .map(str::to_owned)
                    .to_vec(),
            })
        });
    Ok(locations.collect())
}

/// Parses the daily index: the Form 4 filings of the companies for which `is_watched` returns true. The index lists a filing under
/// each of its parties, the company and the insiders.
pub(super) fn index(
    body: &[u8],
    is_watched: impl Fn(Cik) -> bool,
) -> Result<Vec<(Cik, FilingLocation)>, ProviderError> {
    let malformed = |detail: &str| ProviderError::Malformed {
        provider: NAME,
        detail: detail.to_owned(),
    };
    let body = std::str::from_utf8(body).map_err(|_| malformed("an index that is not UTF-8"))?;
    let (_, rows) = body
        .split_once("-----")
        .ok_or_else(|| malformed("an index without a table"))?;
    let mut locations = Vec::new();
    for row in rows
        .lines()
        .filter(|row| is_form_4(row.split_whitespace().next().unwrap_or_default()))
    {
        // Names contain spaces, so a row is read from its end: file, date, CIK.
        let mut columns = row.split_whitespace().rev();
        let file = columns.next().unwrap_or_default();
        let date = columns.next().unwrap_or_default();
        let Some(cik) = columns
            .next()
            .and_then(|cik| cik.parse().ok())
            .filter(|&cik| is_watched(cik))
        else {
            continue;
        };
        let accession = file.rsplit('/').next().and_then(|name| name.strip_suffix(".txt"));
        let filed_on = compact_date(date);
        let (Some(accession), Some(filed_on)) = (accession, filed_on) else {
            continue;
        };
        let location = FilingLocation {
            filed_on,
            accession: accession.to_owned(),
            path: file.split('/').map(str::to_owned).collect(),
        };
        locations.push((cik, location));
    }
    Ok(locations)
}

/// Parses a date like `20240308`, or with hyphens.
fn compact_date(text: &str) -> Option<Date> {
    let digits: String = text.chars().filter(|c| *c != '-').collect();
    let (year, rest) = digits.split_at_checked(4)?;
    let (month, day) = rest.split_at_checked(2)?;
    text::date(&format!("{year}-{month}-{day}")).ok()
}
