//! SEC Form 4: statement of changes in an insider's ownership.

mod parse;
mod xml;

use std::collections::BTreeSet;

use jiff::civil::Date;
use market::records::{InsiderRow, TransactionSide};
use market::{Decimal, Symbol};

/// A parsed Form 4.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filing {
    /// Whether the filing is an amendment (4/A).
    pub is_amendment: bool,
    /// The filing date of the amended filing, if stated.
    pub original_filed_on: Option<Date>,
    /// The period of report: usually the date of the earliest trade.
    pub period: Option<Date>,
    /// The company's CIK.
    pub issuer_cik: u64,
    /// The company's ticker, if the filer states a valid one.
    pub symbol: Option<Symbol>,
    /// The reporting owners.
    pub owners: Vec<ReportingOwner>,
    /// The transactions in shares (non-derivative table).
    pub trades: Vec<Form4Transaction>,
    /// Descriptions of the rows that could not be parsed.
    pub invalid_rows: Vec<String>,
}

/// A reporting owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportingOwner {
    /// The owner's CIK.
    pub cik: u64,
    /// The owner's name.
    pub name: String,
}

/// A transaction in shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form4Transaction {
    /// The date of the transaction.
    pub traded_on: Option<Date>,
    /// The transaction code: `P`, `S` and others.
    pub code: char,
    /// Whether shares were acquired or disposed of.
    pub side: TransactionSide,
    /// The number of shares.
    pub shares: Decimal,
    /// The price per share; zero if not stated.
    pub price: Decimal,
}

/// An error in parsing a Form 4.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Form4Error {
    /// The file has no ownership document.
    #[error("has no ownership document")]
    NoDocument,
    /// The document is not valid XML.
    #[error("is not valid XML: {0}")]
    NotXml(String),
    /// The document is a different form.
    #[error("is form {0}, not 4")]
    OtherForm(String),
    /// A required field is missing.
    #[error("has no {0}")]
    Missing(&'static str),
}

impl Filing {
    /// Parses a filing: the XML document, or a whole submission that contains it.
    ///
    /// # Errors
    /// [`Form4Error`]
    pub fn read(text: &str) -> Result<Self, Form4Error> {
        parse::filing(text)
    }

    /// Returns the trades as records of `symbol`.
    #[must_use]
    pub fn rows(&self, symbol: Symbol, filed_on: Date) -> Vec<InsiderRow> {
        let insider = self.owners.first().map_or("", |owner| owner.name.as_str());
        let row = |trade: &Form4Transaction| InsiderRow {
            symbol,
            filed_on,
            traded_on: trade.traded_on,
            insider: insider.to_owned(),
            code: trade.code,
            side: trade.side,
            shares: trade.shares,
            price: trade.price,
        };
        self.trades.iter().map(row).collect()
    }

    /// Returns whether this filing amends `other`, which was filed on `other_filed_on`: the same owners, company and period, and the
    /// stated original filing date if there is one.
    #[must_use]
    pub fn corrects(&self, other: &Self, other_filed_on: Date) -> bool {
        let owners = |filing: &Self| filing.owners.iter().map(|owner| owner.cik).collect::<BTreeSet<_>>();
        self.is_amendment
            && self.issuer_cik == other.issuer_cik
            && self.period == other.period
            && owners(self) == owners(other)
            && (other.is_amendment || self.original_filed_on.is_none_or(|date| date == other_filed_on))
    }
}

/// Filings after their amendments are applied.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AmendedFilings {
    /// The filings that are in force, with their filing dates.
    pub current: Vec<(Date, Filing)>,
    /// The filings that were replaced, each with the filing date of its replacement.
    pub replaced: Vec<((Date, Filing), Date)>,
}

/// Applies amendments to filings in order of filing. Of a filing and its amendments, the last is in force.
#[must_use]
pub fn apply_amendments(filings: Vec<(Date, Filing)>) -> AmendedFilings {
    let mut amended = AmendedFilings::default();
    for (filed_on, filing) in filings {
        let replaced = amended
            .current
            .extract_if(.., |(earlier, other)| filing.corrects(other, *earlier));
        amended.replaced.extend(replaced.map(|replaced| (replaced, filed_on)));
        amended.current.push((filed_on, filing));
    }
    amended
}

#[cfg(test)]
mod tests;
