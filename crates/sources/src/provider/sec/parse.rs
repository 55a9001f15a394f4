//! The SEC's lists.

use std::collections::BTreeMap;

use jiff::civil::Date;
use market::Symbol;
use market::records::StockRow;

use super::NAME;
use super::models::{Submissions, Ticker, Tickers};
use crate::folder::text;
use crate::provider::symbols::Style;
use crate::provider::{Answer, Days, Fault, ProviderError, json};

/// A registrant's number (CIK).
pub(super) type Cik = u64;

/// The tickers: who is registered under which, and the catalog they make.
pub(super) fn tickers(body: &[u8]) -> Result<(BTreeMap<Symbol, Cik>, Answer), ProviderError> {
    let tickers: Tickers<'_> = json::body(NAME, body)?;
    let (mut registrants, mut answer) = (BTreeMap::new(), Answer::default());
    for element in tickers.values() {
        let Some(ticker) = answer.faults.keep(json::element::<Ticker<'_>>("a ticker", element)) else {
            continue;
        };
        let Some(symbol) = Style::Dash.read(&ticker.ticker) else {
            answer.faults.add(Fault::said(
                &ticker.ticker,
                "ticker",
                &ticker.ticker,
                "is no ticker here",
            ));
            continue;
        };
        registrants.insert(symbol, ticker.cik_str);
        answer.batch.stocks.push(StockRow::named(symbol, ticker.title.trim()));
    }
    Ok((registrants, answer))
}

/// Where a filing is, and when it was filed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) filed_on: Date,
    /// The filing's own number, the same wherever it is listed.
    pub(super) accession: String,
    /// The path behind `Archives/`.
    pub(super) path: Vec<String>,
}

/// Whether a form is one of insiders' trades, or an amendment of one.
fn is_form_4(form: &str) -> bool {
    matches!(form.trim(), "4" | "4/A")
}

/// The filings about a company that were made on `days`.
pub(super) fn submissions(body: &[u8], cik: Cik, days: Days) -> Result<Vec<Place>, ProviderError> {
    let submissions: Submissions = json::body(NAME, body)?;
    let recent = submissions.filings.recent;
    let rows = recent.form.iter().zip(&recent.filing_date);
    let rows = rows.zip(recent.accession_number.iter().zip(&recent.primary_document));
    let places = rows
        .filter(|((form, _), _)| is_form_4(form))
        .filter_map(|((_, filed), (accession, document))| {
            let filed_on = text::date(filed).ok().filter(|&date| days.has(date))?;
            // The listed document is made up for people; what it was made from lies beside its folder.
            let document = document
                .rsplit('/')
                .next()
                .filter(|document| document.ends_with(".xml"))?;
            Some(Place {
                filed_on,
                accession: accession.clone(),
                path: ["edgar", "data", &cik.to_string(), &accession.replace('-', ""), document]
                    .map(str::to_owned)
                    .to_vec(),
            })
        });
    Ok(places.collect())
}

/// The filings of a day about the companies that `is_watched` knows. The index lists a filing once under each of its
/// parties, the company and the insiders.
pub(super) fn index(body: &[u8], is_watched: impl Fn(Cik) -> bool) -> Result<Vec<(Cik, Place)>, ProviderError> {
    let malformed = |what: &str| ProviderError::Malformed {
        provider: NAME,
        what: what.to_owned(),
    };
    let body = std::str::from_utf8(body).map_err(|_| malformed("an index that is not UTF-8"))?;
    let (_, rows) = body
        .split_once("-----")
        .ok_or_else(|| malformed("an index without a table"))?;
    let mut places = Vec::new();
    for row in rows
        .lines()
        .filter(|row| is_form_4(row.split_whitespace().next().unwrap_or_default()))
    {
        // Names have blanks in them, so a row is read from its end: number, date, file.
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
        let place = Place {
            filed_on,
            accession: accession.to_owned(),
            path: file.split('/').map(str::to_owned).collect(),
        };
        places.push((cik, place));
    }
    Ok(places)
}

/// `20240308`, or with hyphens.
fn compact_date(text: &str) -> Option<Date> {
    let digits: String = text.chars().filter(|c| *c != '-').collect();
    let (year, rest) = digits.split_at_checked(4)?;
    let (month, day) = rest.split_at_checked(2)?;
    text::date(&format!("{year}-{month}-{day}")).ok()
}
