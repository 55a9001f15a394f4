//! Batches of records.

use serde::{Deserialize, Serialize};

use super::{
    BarRow, DividendRow, EarningsRow, FundamentalsRow, InsiderRow, IntradayRow, MentionRow, QuoteRow, SplitRow,
    StockRow, WithdrawnFiling,
};
use crate::Symbol;

/// A batch of records of any kinds from one source, to be processed as of one instant.
///
/// # JSON form
/// The nodes of a cluster exchange batches, and their records one by one, as JSON objects with the names of the fields as members:
/// `{"quotes":[{"symbol":"BRK.B","price":412560000,"time":"2024-03-08T15:00:00Z"}]}`.
///
/// * A [`Price`](crate::Price), [`Decimal`](crate::Decimal) or [`SplitRatio`](crate::SplitRatio) is an integer of millionths, so it
///   is exact. Shares and mentions are integers as well.
/// * A [`Symbol`] is a string, a date `2024-03-08`, an instant `2024-03-08T15:00:00Z` with up to nine decimals of the second.
/// * A variant of an enum is its name in snake case: `before_open`, `buy`.
///
/// Members with `None`, without elements or with the usual value ([`StockRow::is_active`], [`EarningsTime::Unknown`]) are left out.
/// Reading them takes that value for a missing member and ignores unknown members, so that nodes of two versions understand each other
/// while a cluster is upgraded. For the same reason, an unknown time of earnings is [`EarningsTime::Unknown`].
///
/// Reading validates: a symbol, price or split ratio that its type refuses is an error, and so is an inconsistent bar. Public APIs have
/// forms of their own.
///
/// [`EarningsTime::Unknown`]: super::EarningsTime::Unknown
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Batch {
    /// Catalog entries.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stocks: Vec<StockRow>,
    /// Prices.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub quotes: Vec<QuoteRow>,
    /// Completed sessions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bars: Vec<BarRow>,
    /// Bars of parts of completed sessions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub intraday_bars: Vec<IntradayRow>,
    /// Earnings per share and other fundamentals.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fundamentals: Vec<FundamentalsRow>,
    /// Earnings dates.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub earnings: Vec<EarningsRow>,
    /// Dividends.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dividends: Vec<DividendRow>,
    /// Splits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub splits: Vec<SplitRow>,
    /// Withdrawn insider filings. They are removed before the batch's transactions are added.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub withdrawn_filings: Vec<WithdrawnFiling>,
    /// Insiders' transactions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub insider_transactions: Vec<InsiderRow>,
    /// Hourly mentions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<MentionRow>,
}

impl Batch {
    /// The total number of records.
    #[must_use]
    pub fn len(&self) -> usize {
        let Self {
            stocks,
            quotes,
            bars,
            intraday_bars,
            fundamentals,
            earnings,
            dividends,
            splits,
            withdrawn_filings,
            insider_transactions,
            mentions,
        } = self;
        let market = stocks.len() + quotes.len() + bars.len() + intraday_bars.len() + fundamentals.len();
        let dated = earnings.len() + dividends.len() + splits.len();
        market + dated + withdrawn_filings.len() + insider_transactions.len() + mentions.len()
    }

    /// Returns the stocks of all records, with repetitions.
    pub fn symbols(&self) -> impl Iterator<Item = Symbol> {
        let stocks = self.stocks.iter().map(|row| row.symbol);
        let quotes = self.quotes.iter().map(|row| row.symbol);
        let bars = self.bars.iter().map(|row| row.symbol);
        let intraday = self.intraday_bars.iter().map(|row| row.symbol);
        let fundamentals = self.fundamentals.iter().map(|row| row.symbol);
        let earnings = self.earnings.iter().map(|row| row.symbol);
        let dividends = self.dividends.iter().map(|row| row.symbol);
        let splits = self.splits.iter().map(|row| row.symbol);
        let withdrawn = self.withdrawn_filings.iter().map(|row| row.symbol);
        let insiders = self.insider_transactions.iter().map(|row| row.symbol);
        let mentions = self.mentions.iter().map(|row| row.symbol);
        let of_prices = stocks.chain(quotes).chain(bars).chain(intraday);
        let dated = earnings.chain(dividends).chain(splits);
        of_prices
            .chain(fundamentals)
            .chain(dated)
            .chain(withdrawn)
            .chain(insiders)
            .chain(mentions)
    }

    /// Whether the batch is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends the records of `later`, kind by kind.
    pub fn append(&mut self, mut later: Self) {
        self.stocks.append(&mut later.stocks);
        self.quotes.append(&mut later.quotes);
        self.bars.append(&mut later.bars);
        self.intraday_bars.append(&mut later.intraday_bars);
        self.fundamentals.append(&mut later.fundamentals);
        self.earnings.append(&mut later.earnings);
        self.dividends.append(&mut later.dividends);
        self.splits.append(&mut later.splits);
        self.withdrawn_filings.append(&mut later.withdrawn_filings);
        self.insider_transactions.append(&mut later.insider_transactions);
        self.mentions.append(&mut later.mentions);
    }

    /// Keeps only the records of stocks for which `keep` returns true.
    pub fn retain(&mut self, keep: impl Fn(Symbol) -> bool) {
        self.stocks.retain(|row| keep(row.symbol));
        self.quotes.retain(|row| keep(row.symbol));
        self.bars.retain(|row| keep(row.symbol));
        self.intraday_bars.retain(|row| keep(row.symbol));
        self.fundamentals.retain(|row| keep(row.symbol));
        self.earnings.retain(|row| keep(row.symbol));
        self.dividends.retain(|row| keep(row.symbol));
        self.splits.retain(|row| keep(row.symbol));
        self.withdrawn_filings.retain(|row| keep(row.symbol));
        self.insider_transactions.retain(|row| keep(row.symbol));
        self.mentions.retain(|row| keep(row.symbol));
    }
}
