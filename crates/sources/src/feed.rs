//! What all live sources have in common: what they send, and what they say they have.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use jiff::Timestamp;
use market::records::{Batch, QuoteRow};

/// What a source sends: a batch of records, to be taken in as of one instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// When the batch became known. Deliveries of one source come in this order.
    pub at: Timestamp,
    /// Whether the batch became known before the source was started: it fills up what is known of the past, and what
    /// it says was not news when it came.
    pub backfill: bool,
    /// What became known.
    pub batch: Batch,
    /// What nobody heard when it was made: it is to be judged as of then.
    pub missed: Missed,
}

/// Observations that nobody heard when they were made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Missed {
    /// Each with its time, in the order of time.
    pub quotes: Vec<QuoteRow>,
    /// Whether later observations of the same stocks may have been delivered already.
    pub is_behind: bool,
}

impl Delivery {
    /// An empty delivery that marks the end of all earlier data.
    #[must_use]
    pub fn loaded(at: Timestamp) -> Self {
        Self {
            at,
            backfill: false,
            batch: Batch::default(),
            missed: Missed::default(),
        }
    }

    /// Whether it says nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.batch.is_empty() && self.missed.quotes.is_empty()
    }
}

/// A kind of market data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FeedKind {
    /// The catalog's stocks.
    Stocks,
    /// Observations of prices.
    Quotes,
    /// Completed sessions.
    Bars,
    /// Earnings per share and other figures.
    Fundamentals,
    /// Earnings dates.
    Earnings,
    /// Dividends.
    Dividends,
    /// Splits.
    Splits,
    /// Insiders' trades.
    InsiderTransactions,
    /// Counts of mentions.
    Mentions,
}

impl FeedKind {
    /// Every kind.
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

/// The kinds of data that a source offers. An alert that needs one that no source offers is blind, and should say so.
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
    /// No kind.
    pub const NONE: Self = Self(0);
    /// Every kind.
    pub const ALL: Self = Self((1 << FeedKind::ALL.len()) - 1);

    /// The kinds of which `batch` holds something.
    #[must_use]
    pub fn of(batch: &Batch) -> Self {
        FeedKind::ALL.into_iter().filter(|kind| kind.count(batch) > 0).collect()
    }

    /// Whether `kind` is offered.
    #[must_use]
    pub const fn has(self, kind: FeedKind) -> bool {
        self.0 & kind.bit() != 0
    }

    /// What either offers.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The kinds that are offered.
    pub fn iter(self) -> impl Iterator<Item = FeedKind> {
        FeedKind::ALL.into_iter().filter(move |&kind| self.has(kind))
    }

    /// The kinds that are not offered.
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

/// What a running source offers, for others to look at: it can grow, as when a file of a new kind appears.
#[derive(Debug, Clone, Default)]
pub struct Offer(Arc<AtomicU16>);

impl Offer {
    /// What is offered now.
    #[must_use]
    pub fn feeds(&self) -> FeedSet {
        FeedSet(self.0.load(Ordering::Relaxed))
    }

    /// Offers `feeds` as well.
    pub fn add(&self, feeds: FeedSet) {
        self.0.fetch_or(feeds.0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use market::records::StockRow;

    #[test]
    fn a_set_has_what_was_put_in_and_misses_the_rest() {
        let feeds: FeedSet = [FeedKind::Mentions, FeedKind::Stocks].into_iter().collect();
        assert_eq!(feeds.iter().collect::<Vec<_>>(), [FeedKind::Stocks, FeedKind::Mentions]);
        assert_eq!(feeds.iter().count() + feeds.missing().count(), FeedKind::ALL.len());
        assert_eq!(FeedSet::ALL.missing().count(), 0);
        assert_eq!(FeedSet::NONE.iter().count(), 0);
    }

    #[test]
    fn a_batch_offers_the_kinds_that_it_holds() {
        let mut batch = Batch::default();
        assert_eq!(FeedSet::of(&batch), FeedSet::NONE);
        batch.stocks.push(StockRow::named("ALDR".parse().unwrap(), "Alder"));
        assert_eq!(FeedSet::of(&batch).iter().collect::<Vec<_>>(), [FeedKind::Stocks]);
    }

    #[test]
    fn what_is_offered_grows_and_all_who_look_see_it() {
        let offer = Offer::default();
        let seen = offer.clone();
        offer.add([FeedKind::Quotes].into_iter().collect());
        offer.add([FeedKind::Bars].into_iter().collect());
        assert!(seen.feeds().has(FeedKind::Quotes) && seen.feeds().has(FeedKind::Bars));
    }
}
