//! Types that all live sources share: the updates that they send and the kinds of data that they offer.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use jiff::Timestamp;
use market::Symbol;
use market::records::{Batch, QuoteRow};
use serde::{Deserialize, Serialize};

/// A batch of records that a source sends, as of one instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarketUpdate {
    /// When the batch became known. Updates of one source are in this order.
    pub at: Timestamp,
    /// Whether the batch became known before the source was started. A backfill adds history; its records are not news.
    pub backfill: bool,
    /// The new records.
    pub batch: Batch,
    /// Quotes that were not received when they were made. Alerts are evaluated against them as of their own times.
    pub missed: MissedQuotes,
}

/// Quotes that were not received when they were made.
///
/// The nodes of a cluster exchange them as JSON by the rules of [`Batch`]. Members that are empty or false are left out.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MissedQuotes {
    /// The quotes, each with its time, ordered by time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub quotes: Vec<QuoteRow>,
    /// Whether later quotes of the same stocks may have been delivered already.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_behind: bool,
    /// The stocks of which the period has all quotes, even if it has none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub complete: Vec<Symbol>,
}

impl MarketUpdate {
    /// Creates an update with new data, without missed quotes.
    #[must_use]
    pub fn new(at: Timestamp, batch: Batch) -> Self {
        Self {
            at,
            backfill: false,
            batch,
            missed: MissedQuotes::default(),
        }
    }

    /// Creates an update with data from before the source was started.
    #[must_use]
    pub fn history(at: Timestamp, batch: Batch) -> Self {
        Self {
            backfill: true,
            ..Self::new(at, batch)
        }
    }

    /// Creates an empty update that marks the end of the history.
    #[must_use]
    pub fn end_of_history(at: Timestamp) -> Self {
        Self::new(at, Batch::default())
    }

    /// Whether the update has neither records nor missed quotes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.batch.is_empty() && self.missed.quotes.is_empty()
    }
}

/// A kind of market data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FeedKind {
    /// The stocks of the catalog.
    Stocks,
    /// Quotes.
    Quotes,
    /// Daily bars of completed sessions.
    Bars,
    /// Earnings per share and other figures.
    Fundamentals,
    /// Earnings dates.
    Earnings,
    /// Dividends.
    Dividends,
    /// Splits.
    Splits,
    /// Insider transactions.
    InsiderTransactions,
    /// Counts of mentions.
    Mentions,
}

impl FeedKind {
    /// All kinds.
    pub const ALL: [Self; 9] = [
        Self::Stocks,
        Self::Quotes,
        Self::Bars,
        Self::Fundamentals,
        Self::Earnings,
        Self::Dividends,
        Self::Splits,
        Self::InsiderTransactions,
        Self::Mentions,
    ];

    /// The kind's name, as in the body of `POST /market/ingest`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stocks => "stocks",
            Self::Quotes => "quotes",
            Self::Bars => "bars",
            Self::Fundamentals => "fundamentals",
            Self::Earnings => "earnings",
            Self::Dividends => "dividends",
            Self::Splits => "splits",
            Self::InsiderTransactions => "insider_transactions",
            Self::Mentions => "mentions",
        }
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }

    fn count(self, batch: &Batch) -> usize {
        match self {
            Self::Stocks => batch.stocks.len(),
            Self::Quotes => batch.quotes.len(),
            Self::Bars => batch.bars.len(),
            Self::Fundamentals => batch.fundamentals.len(),
            Self::Earnings => batch.earnings.len(),
            Self::Dividends => batch.dividends.len(),
            Self::Splits => batch.splits.len(),
            Self::InsiderTransactions => batch.insider_transactions.len(),
            Self::Mentions => batch.mentions.len(),
        }
    }
}

impl fmt::Display for FeedKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The kinds of data that a source offers. An alert that needs a kind that no source offers is blind, and should report
/// that.
///
/// ```
/// use sources::{FeedKind, FeedSet};
///
/// let feeds: FeedSet = [FeedKind::Quotes, FeedKind::Bars].into_iter().collect();
/// assert!(feeds.has(FeedKind::Quotes) && !feeds.has(FeedKind::Mentions));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct FeedSet(u16);

impl FeedSet {
    /// The empty set.
    pub const NONE: Self = Self(0);
    /// All kinds.
    pub const ALL: Self = Self((1 << FeedKind::ALL.len()) - 1);

    /// Returns the kinds of which `batch` has at least one record.
    #[must_use]
    pub fn of(batch: &Batch) -> Self {
        FeedKind::ALL.into_iter().filter(|kind| kind.count(batch) > 0).collect()
    }

    /// Whether `kind` is offered.
    #[must_use]
    pub const fn has(self, kind: FeedKind) -> bool {
        self.0 & kind.bit() != 0
    }

    /// Iterates over the kinds that are offered.
    pub fn iter(self) -> impl Iterator<Item = FeedKind> {
        FeedKind::ALL.into_iter().filter(move |&kind| self.has(kind))
    }

    /// Iterates over the kinds that are not offered.
    pub fn missing(self) -> impl Iterator<Item = FeedKind> {
        FeedKind::ALL.into_iter().filter(move |&kind| !self.has(kind))
    }
}

impl FromIterator<FeedKind> for FeedSet {
    fn from_iter<I: IntoIterator<Item = FeedKind>>(kinds: I) -> Self {
        Self(kinds.into_iter().fold(0, |bits, kind| bits | kind.bit()))
    }
}

impl fmt::Debug for FeedSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// The kinds of data that a running source offers, shared with its observers. The set can grow, for example when a file of
/// a new kind appears.
#[derive(Debug, Clone, Default)]
pub struct OfferedFeeds(Arc<AtomicU16>);

impl OfferedFeeds {
    /// Returns the kinds that are offered now.
    #[must_use]
    pub fn feeds(&self) -> FeedSet {
        FeedSet(self.0.load(Ordering::Relaxed))
    }

    /// Adds `feeds` to the offered kinds.
    pub fn add(&self, feeds: FeedSet) {
        self.0.fetch_or(feeds.0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use market::Price;
    use market::records::StockRow;
    use proptest::prelude::*;

    #[test]
    fn set_has_added_kinds_and_misses_the_others() {
        let feeds: FeedSet = [FeedKind::Mentions, FeedKind::Stocks].into_iter().collect();
        assert_eq!(feeds.iter().collect::<Vec<_>>(), [FeedKind::Stocks, FeedKind::Mentions]);
        assert_eq!(feeds.iter().count() + feeds.missing().count(), FeedKind::ALL.len());
        assert_eq!(FeedSet::ALL.missing().count(), 0);
        assert_eq!(FeedSet::NONE.iter().count(), 0);
    }

    #[test]
    fn feed_set_of_a_batch_has_the_kinds_of_its_records() {
        let mut batch = Batch::default();
        assert_eq!(FeedSet::of(&batch), FeedSet::NONE);
        batch.stocks.push(StockRow::named("ALDR".parse().unwrap(), "Alder"));
        assert_eq!(FeedSet::of(&batch).iter().collect::<Vec<_>>(), [FeedKind::Stocks]);
    }

    #[test]
    fn added_feeds_are_visible_to_all_clones() {
        let offer = OfferedFeeds::default();
        let seen = offer.clone();
        offer.add([FeedKind::Quotes].into_iter().collect());
        offer.add([FeedKind::Bars].into_iter().collect());
        assert!(seen.feeds().has(FeedKind::Quotes) && seen.feeds().has(FeedKind::Bars));
    }

    #[test]
    fn missed_quotes_without_a_member_are_an_empty_object() {
        assert_eq!(serde_json::to_string(&MissedQuotes::default()).unwrap(), "{}");
        let read: MissedQuotes = serde_json::from_str(r#"{"provider":"finnhub"}"#).unwrap();
        assert_eq!(read, MissedQuotes::default(), "the unknown member is ignored");
    }

    #[test]
    fn rejects_missed_quotes_with_an_invalid_symbol_or_price() {
        let error = |json: &str| serde_json::from_str::<MissedQuotes>(json).unwrap_err().to_string();
        assert!(error(r#"{"complete":["AAPL","A B"]}"#).contains("a symbol consists of"));
        assert!(error(r#"{"quotes":[{"symbol":"AAPL","price":0}]}"#).contains("price 0 is not above zero"));
    }

    proptest! {
        #[test]
        fn missed_quotes_are_read_as_they_were_written(
            prices in proptest::collection::vec(1..=market::price::MAX_PRICE_MICROS, 0..4),
            seconds in -377_705_023_201..=253_402_207_200_i64,
            is_behind: bool,
            symbols in proptest::collection::vec("[A-Z0-9.-]{1,10}", 0..4),
        ) {
            let complete: Vec<Symbol> = symbols.iter().map(|symbol| symbol.parse().unwrap()).collect();
            let quote = |micros: &i64| QuoteRow {
                symbol: "ALDR".parse().unwrap(),
                price: Price::from_micros(*micros).unwrap(),
                volume: Some(*micros),
                time: Some(Timestamp::from_second(seconds).unwrap()),
                bid: None,
                ask: None,
                vwap: None,
            };
            let missed = MissedQuotes { quotes: prices.iter().map(quote).collect(), is_behind, complete };
            let json = serde_json::to_string(&missed).unwrap();
            prop_assert_eq!(serde_json::from_str::<MissedQuotes>(&json).unwrap(), missed);
        }
    }
}
