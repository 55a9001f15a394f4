//! Form 4: what an insider did.

mod read;
mod tree;

use std::collections::BTreeSet;

use jiff::civil::Date;
use market::records::{InsiderRow, Side};
use market::{Decimal, Symbol};

/// A filing, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filing {
    /// Whether it corrects another one (4/A).
    pub is_amendment: bool,
    /// When the one that it corrects was filed, if it says so.
    pub original_filed_on: Option<Date>,
    /// The day of the earliest trade, or what the filer takes for it.
    pub period: Option<Date>,
    /// The company's number.
    pub issuer_cik: u64,
    /// The company's ticker, as the filer writes it, if it is one.
    pub symbol: Option<Symbol>,
    /// Who files, by number and name, and whether they are an officer or a director.
    pub owners: Vec<Owner>,
    /// What was done with shares.
    pub trades: Vec<Trade>,
    /// How many rows the table of derivatives has; they are no trades of the stock.
    pub derivatives: usize,
    /// Rows that could not be read, in words.
    pub faults: Vec<String>,
}

/// Somebody who has to report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// Their number.
    pub cik: u64,
    /// Their name.
    pub name: String,
    /// Whether they are a director.
    pub is_director: bool,
    /// Whether they are an officer.
    pub is_officer: bool,
    /// Whether they own more than a tenth.
    pub is_ten_percent_owner: bool,
}

/// A row of the first table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trade {
    /// When.
    pub traded_on: Option<Date>,
    /// What kind: `P`, `S`, and others.
    pub code: char,
    /// Whether shares came or went.
    pub side: Side,
    /// How many.
    pub shares: Decimal,
    /// At what price; zero where none is told.
    pub price: Decimal,
}

/// Why a file is no Form 4.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Form4Error {
    /// There is no such document in it.
    #[error("has no ownership document")]
    NoDocument,
    /// It is no XML.
    #[error("is no XML: {0}")]
    NotXml(String),
    /// A form of another kind.
    #[error("is form {0}, not 4")]
    OtherForm(String),
    /// Something without which the rest means nothing.
    #[error("has no {0}")]
    Missing(&'static str),
}

impl Filing {
    /// Reads a filing: the XML itself, or a whole submission with it somewhere inside.
    ///
    /// # Errors
    /// [`Form4Error`]
    pub fn read(text: &str) -> Result<Self, Form4Error> {
        read::filing(text)
    }

    /// Its trades as records of `symbol`.
    #[must_use]
    pub fn rows(&self, symbol: Symbol, filed_on: Date) -> Vec<InsiderRow> {
        let insider = self.owners.first().map_or("", |owner| owner.name.as_str());
        let row = |trade: &Trade| InsiderRow {
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

    /// Whether it corrects `other`, which was filed on that day: the same owners about the same company and period, filed when it
    /// says, if it says when.
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

/// What becomes of filings when amendments are among them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Amended {
    /// Those that stand, with the dates of their filing.
    pub standing: Vec<(Date, Filing)>,
    /// Those that were replaced, each with the date of its replacement.
    pub replaced: Vec<((Date, Filing), Date)>,
}

/// Lets amendments replace, of filings in the order in which they were filed: of a filing and its amendments the last stands.
#[must_use]
pub fn replace_amended(filings: Vec<(Date, Filing)>) -> Amended {
    let mut amended = Amended::default();
    for (filed_on, filing) in filings {
        let replaced = amended
            .standing
            .extract_if(.., |(earlier, other)| filing.corrects(other, *earlier));
        amended.replaced.extend(replaced.map(|replaced| (replaced, filed_on)));
        amended.standing.push((filed_on, filing));
    }
    amended
}

#[cfg(test)]
mod tests;
