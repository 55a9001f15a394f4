//! Judgements in extended hours, of rules with the option `session: extended`.
//!
//! Each observation judges every such rule of its stock: these observations are few, so they have no quiet bands. Before it, the
//! session that is over ends for every stock of the rule, so that `prev_close` is the same close for all of them.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::judge::Cause;
use crate::engine::Engine;
use crate::engine::decision::{Decision, EventError};
use crate::engine::event::{ExtendedPrice, ExtendedQuote, StockIndex};
use crate::engine::level_index::Slot;

impl Engine {
    /// Judges observations in extended hours. Stocks that do not need them are left out.
    pub(in crate::engine) fn observe_extended_hours(
        &mut self,
        quotes: &[ExtendedQuote],
        now: Timestamp,
        out: &mut Vec<Decision>,
    ) -> Result<(), EventError> {
        let hours = self
            .calendar
            .extended_hours_at(now)
            .ok_or(EventError::NotInExtendedHours)?;
        let session = hours.session.date;
        let (mut observed, mut due) = (BTreeSet::new(), BTreeSet::new());
        for quote in quotes {
            let stocks = self.stocks.get(quote.stock.0 as usize);
            let Some(stock) = stocks.filter(|stock| stock.follows_extended_hours()) else {
                continue;
            };
            due.extend(stock.rules.extended());
            self.end_session_of(quote.stock, now, out);
            let stock = &mut self.stocks[quote.stock.0 as usize];
            // A quote without bid and ask says nothing about them.
            let before = stock.extended.filter(|newest| newest.session == session);
            stock.extended = Some(ExtendedPrice {
                session,
                price: quote.price,
                at: now,
                bid: quote.bid.or(before.and_then(|newest| newest.bid)),
                ask: quote.ask.or(before.and_then(|newest| newest.ask)),
            });
            observed.insert(quote.stock);
        }
        self.judge_in_extended_hours(&due, &observed, now, out);
        Ok(())
    }

    /// Judges the rules of a stock again in extended hours, after something became known or is due besides an observation. A stale
    /// price is not judged, nor a rule that `judged` has.
    pub(in crate::engine) fn rejudge_in_extended_hours(
        &mut self,
        stock: StockIndex,
        now: Timestamp,
        judged: &mut BTreeSet<Slot>,
        out: &mut Vec<Decision>,
    ) {
        if self.is_fresh_in_extended_hours(stock, now) {
            let rules = self.stocks[stock.0 as usize].rules.extended();
            let due = rules.filter(|slot| judged.insert(*slot)).collect();
            self.judge_in_extended_hours(&due, &BTreeSet::new(), now, out);
        }
    }

    /// Returns whether the newest price of a stock in extended hours is recent enough to be judged again.
    fn is_fresh_in_extended_hours(&self, stock: StockIndex, now: Timestamp) -> bool {
        let newest = self.stocks[stock.0 as usize].extended;
        newest.is_some_and(|newest| now.duration_since(newest.at) <= self.config.stale_after)
    }

    /// Judges a rule that was re-armed again in extended hours, if a price of its stocks is recent enough.
    pub(in crate::engine) fn judge_rearmed_in_extended_hours(
        &mut self,
        slot: Slot,
        now: Timestamp,
        out: &mut Vec<Decision>,
    ) {
        let is_due = self.rules.get(slot).is_some_and(|armed| {
            let is_fresh = |stock| self.is_fresh_in_extended_hours(stock, now);
            armed.judges_extended_hours() && armed.stock_indices().any(is_fresh)
        });
        if is_due {
            self.judge_in_extended_hours(&BTreeSet::from([slot]), &BTreeSet::new(), now, out);
        }
    }

    fn judge_in_extended_hours(
        &mut self,
        due: &BTreeSet<Slot>,
        observed: &BTreeSet<StockIndex>,
        now: Timestamp,
        out: &mut Vec<Decision>,
    ) {
        for &slot in due {
            let stocks: Vec<_> = self
                .rules
                .get(slot)
                .into_iter()
                .flat_map(|armed| armed.stock_indices())
                .collect();
            for stock in stocks {
                self.end_session_of(stock, now, out);
            }
            // Without an observation the price is the one before, so it is not one of two for the trigger `two_lasts`.
            let is_new = !observed.is_empty();
            self.judge_and_place(slot, now, Cause { observed, is_new }, out);
        }
    }

    /// Ends the session of a stock, which is over in extended hours, after its close was judged.
    fn end_session_of(&mut self, stock: StockIndex, now: Timestamp, out: &mut Vec<Decision>) {
        let place = stock.0 as usize;
        if self.stocks[place].session.is_none() {
            return;
        }
        self.judge_closes_of(self.symbols[place], now, out);
        self.hot.update(place, |hot| self.stocks[place].end_session(hot));
        self.stocks[place].rules.mark_all_due();
    }
}
