//! Parser of a Form 4 document.

use jiff::civil::Date;
use market::records::TransactionSide;
use market::{Decimal, Symbol};

use super::xml::{XmlEvent, walk_xml};
use super::{Filing, Form4Error, Form4Transaction, ReportingOwner};
use crate::folder::text;
use crate::provider::ticker_style::TickerStyle;

/// Returns the ownership document within a submission, without the SEC's envelope.
fn document(text: &str) -> Result<&str, Form4Error> {
    const END: &str = "</ownershipDocument>";
    let start = text.find("<ownershipDocument").ok_or(Form4Error::NoDocument)?;
    let end = text[start..]
        .find(END)
        .ok_or_else(|| Form4Error::NotXml("it ends too early".to_owned()))?;
    Ok(&text[start..start + end + END.len()])
}

pub(super) fn filing(text: &str) -> Result<Filing, Form4Error> {
    let mut form = Form4Fields::default();
    walk_xml(document(text)?, |step| form.take(step))?;
    form.finish()
}

/// The form's fields, unparsed.
#[derive(Default)]
struct Form4Fields {
    kind: String,
    original: String,
    period: String,
    issuer_cik: String,
    symbol: String,
    owners: Vec<RawOwner>,
    trades: Vec<RawTrade>,
}

#[derive(Default)]
struct RawOwner {
    cik: String,
    name: String,
}

#[derive(Default)]
struct RawTrade {
    date: String,
    code: String,
    shares: String,
    price: String,
    acquired_or_disposed: String,
}

impl Form4Fields {
    fn take(&mut self, step: XmlEvent<'_>) {
        match step {
            XmlEvent::ElementStart(path) => match names(path)[..] {
                ["ownershipDocument", "reportingOwner"] => self.owners.push(RawOwner::default()),
                ["ownershipDocument", "nonDerivativeTable", "nonDerivativeTransaction"] => {
                    self.trades.push(RawTrade::default());
                }
                _ => {}
            },
            XmlEvent::ElementEnd(path, text) => self.fill(&names(path), text),
        }
    }

    fn fill(&mut self, path: &[&str], text: &str) {
        let text = text.to_owned();
        match path {
            ["ownershipDocument", "documentType"] => self.kind = text,
            ["ownershipDocument", "dateOfOriginalSubmission"] => self.original = text,
            ["ownershipDocument", "periodOfReport"] => self.period = text,
            ["ownershipDocument", "issuer", "issuerCik"] => self.issuer_cik = text,
            ["ownershipDocument", "issuer", "issuerTradingSymbol"] => self.symbol = text,
            ["ownershipDocument", "reportingOwner", rest @ ..] => {
                if let Some(owner) = self.owners.last_mut() {
                    owner.fill(rest, text);
                }
            }
            [
                "ownershipDocument",
                "nonDerivativeTable",
                "nonDerivativeTransaction",
                rest @ ..,
            ] => {
                if let Some(trade) = self.trades.last_mut() {
                    trade.fill(rest, text);
                }
            }
            _ => {}
        }
    }

    fn finish(self) -> Result<Filing, Form4Error> {
        let is_amendment = match self.kind.as_str() {
            "4" => false,
            "4/A" => true,
            other => return Err(Form4Error::OtherForm(other.chars().take(10).collect())),
        };
        let mut invalid_rows = Vec::new();
        let trades = self
            .trades
            .iter()
            .filter_map(|trade| trade.read().map_err(|error| invalid_rows.push(error)).ok());
        let trades = trades.collect();
        let owners: Vec<_> = self.owners.into_iter().filter_map(RawOwner::read).collect();
        if owners.is_empty() {
            return Err(Form4Error::Missing("reporting owner"));
        }
        Ok(Filing {
            is_amendment,
            original_filed_on: day(&self.original),
            period: day(&self.period),
            issuer_cik: self
                .issuer_cik
                .parse()
                .map_err(|_| Form4Error::Missing("number of the issuer"))?,
            symbol: ticker(&self.symbol),
            owners,
            trades,
            invalid_rows,
        })
    }
}

fn names(path: &[String]) -> Vec<&str> {
    path.iter().map(String::as_str).collect()
}

impl RawOwner {
    fn fill(&mut self, path: &[&str], text: String) {
        match path {
            ["reportingOwnerId", "rptOwnerCik"] => self.cik = text,
            ["reportingOwnerId", "rptOwnerName"] => self.name = text,
            _ => {}
        }
    }

    fn read(self) -> Option<ReportingOwner> {
        Some(ReportingOwner {
            cik: self.cik.parse().ok()?,
            name: self.name.chars().filter(|c| !c.is_control()).take(200).collect(),
        })
    }
}

impl RawTrade {
    fn fill(&mut self, path: &[&str], text: String) {
        match path {
            ["transactionDate", "value"] => self.date = text,
            ["transactionCoding", "transactionCode"] => self.code = text,
            ["transactionAmounts", "transactionShares", "value"] => self.shares = text,
            ["transactionAmounts", "transactionPricePerShare", "value"] => self.price = text,
            ["transactionAmounts", "transactionAcquiredDisposedCode", "value"] => self.acquired_or_disposed = text,
            _ => {}
        }
    }

    fn read(&self) -> Result<Form4Transaction, String> {
        let code = text::code(&self.code).map_err(|problem| format!("transactionCode {problem}"))?;
        let side = match (code, self.acquired_or_disposed.as_str()) {
            ('P', _) => TransactionSide::Buy,
            ('S', _) => TransactionSide::Sell,
            (_, "A") => TransactionSide::Buy,
            (_, "D") => TransactionSide::Sell,
            _ => return Err("transactionAcquiredDisposedCode is neither A nor D".to_owned()),
        };
        let shares = text::amount(&self.shares).map_err(|problem| format!("transactionShares {problem}"))?;
        let price = match self.price.as_str() {
            // The price may be stated in a footnote only.
            "" => Decimal::ZERO,
            price => text::amount(price).map_err(|problem| format!("transactionPricePerShare {problem}"))?,
        };
        Ok(Form4Transaction {
            traded_on: day(&self.date),
            code,
            side,
            shares,
            price,
        })
    }
}

/// Parses a date. A time zone after it (`2024-07-19-05:00`) is ignored, since the date is the filer's calendar day.
fn day(text: &str) -> Option<Date> {
    text::date(text.get(..10)?).ok()
}

/// Parses the ticker as filers write it, also `NYSE: BRK.B` or `GOOG, GOOGL`; the first one counts.
fn ticker(text: &str) -> Option<Symbol> {
    let text = text.rsplit(':').next().unwrap_or(text);
    let first = text
        .split([',', ';', '/', ' '])
        .find(|word| !word.is_empty())?
        .to_ascii_uppercase();
    TickerStyle::Dash
        .read(&first)
        .filter(|symbol| !matches!(symbol.as_str(), "NONE" | "N" | "NA"))
}
