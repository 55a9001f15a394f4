//! The state of ingestion between two batches.

use std::collections::HashMap;

use ::market::Symbol;
use jiff::Timestamp;

use super::last_quote::LastQuote;

/// State that is kept between batches. Its lock makes ingestion sequential.
#[derive(Debug, Default)]
pub(crate) struct IntakeState {
    /// For each stock the quote that was made last.
    pub(super) last_quotes: HashMap<Symbol, LastQuote>,
    /// The time of the last ingestion.
    last: Option<Timestamp>,
}

impl IntakeState {
    /// Returns the quote of a stock that was made last.
    pub(super) fn last_quote(&self, symbol: Symbol) -> Option<LastQuote> {
        self.last_quotes.get(&symbol).copied()
    }

    /// Follows the clock. If it was set back, quotes from after `now` must not block present ones.
    pub(super) fn follow_clock(&mut self, now: Timestamp) {
        if self.last.is_some_and(|last| now < last) {
            self.last_quotes.retain(|_, quote| quote.at <= now);
        }
        self.last = Some(now);
    }

    /// Records that a stock was observed up to an instant.
    pub(super) fn note_seen(&mut self, symbol: Symbol, until: Timestamp) {
        let seen = LastQuote::new(until, until);
        let known = self.last_quotes.entry(symbol).or_insert(seen);
        if known.at < until {
            *known = seen;
        }
    }
}
