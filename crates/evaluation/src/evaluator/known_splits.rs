//! The known splits of all stocks, and the conversion of prices, bars and shares by the applied ones.

use std::collections::HashMap;

use ::alerts::engine::{ExtendedPrice, ObservedSession};
use ::market::calendar::new_york_date;
use ::market::records::SplitRow;
use ::market::{Bar, Decimal, Price, SplitRatio, Symbol};
use jiff::civil::Date;

/// The known splits.
#[derive(Debug, Default)]
pub(super) struct KnownSplits {
    /// By date; the flag says whether the split has been applied.
    pub(super) rows: Vec<(SplitRow, bool)>,
    /// The last session of each stock whose bar was made from observations because a split follows it.
    pub(super) sessions_before_split: HashMap<Symbol, Date>,
}

/// A delivered split compared with the known ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SplitStatus {
    /// Unknown, or known with another ratio and not applied yet.
    New,
    /// Known with this ratio.
    Known,
    /// Applied with another ratio.
    TooLate,
}

impl KnownSplits {
    pub(super) fn new(rows: Vec<(SplitRow, bool)>) -> Self {
        Self {
            rows,
            sessions_before_split: HashMap::new(),
        }
    }

    /// The applied splits of each stock that has any, with their dates.
    pub(super) fn applied(&self) -> HashMap<Symbol, Vec<(Date, SplitRatio)>> {
        let mut applied: HashMap<Symbol, Vec<_>> = HashMap::new();
        for (split, _) in self.rows.iter().filter(|(_, is_applied)| *is_applied) {
            applied.entry(split.symbol).or_default().push((split.date, split.ratio));
        }
        applied
    }

    /// Whether the session's bar was made from observations because a split follows it.
    pub(super) fn is_session_before_split(&self, symbol: Symbol, session: Date) -> bool {
        self.sessions_before_split.get(&symbol) == Some(&session)
    }

    pub(super) fn find(&self, split: &SplitRow) -> Option<&(SplitRow, bool)> {
        self.rows
            .iter()
            .find(|(known, _)| (known.symbol, known.date) == (split.symbol, split.date))
    }

    pub(super) fn status_of(&self, split: &SplitRow) -> SplitStatus {
        match self.find(split) {
            None => SplitStatus::New,
            Some((known, _)) if known.ratio == split.ratio => SplitStatus::Known,
            Some((_, false)) => SplitStatus::New,
            Some((_, true)) => SplitStatus::TooLate,
        }
    }

    /// Adds splits, or replaces the ratio of splits that are not applied yet.
    pub(super) fn insert(&mut self, new_splits: Vec<SplitRow>) {
        for split in new_splits {
            self.rows
                .retain(|(known, _)| (known.symbol, known.date) != (split.symbol, split.date));
            self.rows.push((split, false));
        }
        self.rows.sort_by_key(|(split, _)| split.date);
    }

    pub(super) fn next_due(&self, today: Date) -> Option<SplitRow> {
        let due = self
            .rows
            .iter()
            .find(|(split, applied)| !applied && split.date <= today);
        due.map(|(split, _)| *split)
    }

    /// Whether a split of a stock that is due on a day is not applied yet.
    pub(super) fn is_waiting(&self, symbol: Symbol, day: Date) -> bool {
        let mut of_symbol = self.rows.iter().filter(|(split, _)| split.symbol == symbol);
        of_symbol.any(|(split, applied)| !applied && split.date <= day)
    }

    pub(super) fn mark_applied(&mut self, split: &SplitRow) {
        for (known, applied) in &mut self.rows {
            if (known.symbol, known.date) == (split.symbol, split.date) {
                *applied = true;
            }
        }
    }

    /// Converts a bar to today's shares, by all applied splits.
    pub(super) fn in_todays_shares(&self, symbol: Symbol, bar: Bar) -> Bar {
        self.applied_after(symbol, bar.date)
            .fold(bar, |bar, split| bar.after_split(split.ratio))
    }

    /// Converts a bar in today's shares to the shares of its day, as it was traded.
    pub(super) fn in_shares_of_its_day(&self, symbol: Symbol, bar: Bar) -> Bar {
        self.applied_after(symbol, bar.date).fold(bar, |bar, split| {
            let price = |price: Price| Price::from_micros(split.ratio.multiply(price.micros())).unwrap_or(price);
            Bar {
                open: price(bar.open),
                high: price(bar.high),
                low: price(bar.low),
                close: price(bar.close),
                volume: split.ratio.divide(bar.volume),
                ..bar
            }
        })
    }

    /// Converts a price of a day to today's shares, by all applied splits.
    pub(super) fn price_in_todays_shares(&self, symbol: Symbol, date: Date, price: Price) -> Price {
        self.applied_after(symbol, date)
            .fold(price, |price, split| price.after_split(split.ratio))
    }

    /// Converts a number of shares of a day to today's shares, by all applied splits.
    pub(super) fn shares_of_today(&self, symbol: Symbol, date: Date, shares: i64) -> i64 {
        self.applied_after(symbol, date)
            .fold(shares, |shares, split| split.ratio.multiply(shares))
    }

    /// Converts earnings per share as of `as_of` to today's shares, by all applied splits.
    pub(super) fn eps_in_todays_shares(&self, symbol: Symbol, as_of: Date, eps: Decimal) -> Decimal {
        let later = self.applied_after(symbol, as_of);
        later.fold(eps, |eps, split| Decimal::from_micros(split.ratio.divide(eps.micros())))
    }

    /// Returns the applied splits of a stock after `date`.
    pub(super) fn applied_after(&self, symbol: Symbol, date: Date) -> impl Iterator<Item = &SplitRow> {
        let applied = self.rows.iter().filter(|(_, applied)| *applied).map(|(split, _)| split);
        applied.filter(move |split| split.symbol == symbol && date < split.date)
    }

    /// Converts a price in extended hours to today's shares, by all applied splits.
    pub(super) fn extended_price_in_todays_shares(&self, symbol: Symbol, newest: ExtendedPrice) -> ExtendedPrice {
        let later = self.applied_after(symbol, new_york_date(newest.at));
        later.fold(newest, |newest, split| newest.after_split(split.ratio))
    }

    /// Converts the state of a session to today's shares, by all applied splits.
    pub(super) fn session_in_todays_shares(&self, symbol: Symbol, session: ObservedSession) -> ObservedSession {
        let later = self.applied_after(symbol, session.date);
        later.fold(session, |session, split| ObservedSession {
            open: session.open.after_split(split.ratio),
            high: session.high.after_split(split.ratio),
            low: session.low.after_split(split.ratio),
            last: session.last.after_split(split.ratio),
            volume: session.volume.map(|volume| split.ratio.multiply(volume)),
            bid: session.bid.map(|bid| bid.after_split(split.ratio)),
            ask: session.ask.map(|ask| ask.after_split(split.ratio)),
            vwap: session.vwap.map(|vwap| vwap.after_split(split.ratio)),
            ..session
        })
    }
}
