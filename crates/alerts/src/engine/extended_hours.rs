//! The newest price of a stock in extended hours, which belongs to the session that opens next.
//!
//! It ends the session before it: from then on the completed session is the last one of the history, and the price stands in for
//! the close of the session to come. The first observation of that session, or a bar of it, replaces the price.

use jiff::civil::Date;
use market::{SplitRatio, Symbol};

use super::Engine;
use super::event::{ExtendedPrice, ObservedSession};
use super::hot_line::HotLine;
use super::stock::Stock;

impl Engine {
    /// Restores the newest price of a stock in extended hours.
    pub(super) fn resume_extended_hours(&mut self, symbol: Symbol, newest: ExtendedPrice) {
        self.change_stock(symbol, |stock, hot| stock.resume_extended(hot, newest));
        self.mark_unsettled(symbol);
    }
}

impl Stock {
    /// Returns whether the stock needs the observations in extended hours: an alert judges them, or has judged them since the last
    /// session.
    pub(super) fn follows_extended_hours(&self) -> bool {
        self.extended.is_some() || self.rules.has_extended()
    }

    /// Restores the newest price before a restart, unless its session was observed since.
    fn resume_extended(&mut self, hot: &mut HotLine, newest: ExtendedPrice) {
        let is_over = self.last_date.is_some_and(|last| newest.session <= last) || self.is_completed(newest.session);
        if !is_over {
            self.end_session(hot);
            self.extended = Some(newest);
        }
    }

    /// Forgets a price that belongs to the session of `date`, or to an earlier one.
    pub(super) fn forget_extended_price(&mut self, date: Date) {
        self.extended = self.extended.filter(|newest| date < newest.session);
    }

    /// Ends a session that is resumed after a price in extended hours was observed: with observations that were missed before.
    pub(super) fn resume_before_extended_hours(&mut self, hot: &mut HotLine, so_far: &ObservedSession) {
        if self.extended.is_none_or(|newest| so_far.date >= newest.session) {
            return;
        }
        self.end_session(hot);
        if self.observed_bar == Some(so_far.date) {
            self.record_observed(hot, so_far.date, so_far.open);
        }
    }
}

impl ExtendedPrice {
    /// Returns the price in the shares after a split.
    #[must_use]
    pub fn after_split(self, ratio: SplitRatio) -> Self {
        Self {
            price: self.price.after_split(ratio),
            bid: self.bid.map(|bid| bid.after_split(ratio)),
            ask: self.ask.map(|ask| ask.after_split(ratio)),
            ..self
        }
    }
}
