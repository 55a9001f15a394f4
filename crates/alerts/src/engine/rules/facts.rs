//! Judgements of rules because of facts and dates.
//!
//! A rule with a price or volume metric is judged in the session only: a fact makes it due at the next observation or evaluation.
//! A rule of facts alone is judged at once, also while the market is closed, and when the date in New York changes.

use std::collections::BTreeSet;

use jiff::Timestamp;
use market::Symbol;
use market::calendar::{new_york, new_york_date};

use super::judge::Cause;
use super::rule::ArmedRule;
use crate::engine::Engine;
use crate::engine::decision::Decision;
use crate::engine::event::{Feed, InsiderTrade, StockIndex};
use crate::engine::facts::Facts;
use crate::engine::hot_line::HotLine;
use crate::engine::level_index::Slot;
use crate::metrics::MetricDependency;

impl Engine {
    /// Judges the rules of facts alone that use a changed fact of a stock, and makes the other rules that use it due.
    pub(in crate::engine) fn judge_fact(
        &mut self,
        symbol: Symbol,
        changed: MetricDependency,
        now: Timestamp,
        out: &mut Vec<Decision>,
    ) {
        let stock = self.stock(symbol);
        for slot in self.stocks[stock.0 as usize].rules.slots() {
            let Some(armed) = self.rules.get(slot) else {
                continue;
            };
            if !armed.uses(stock, changed) {
                continue;
            }
            if armed.has_market_data {
                self.make_due(slot);
            } else {
                self.judge_fact_rule(slot, &BTreeSet::from([stock]), now, out);
            }
        }
    }

    /// Judges the rules on insider trades of every stock. Before the first trades of any stock, no stock's were known.
    pub(in crate::engine) fn judge_first_insider_trades(&mut self, now: Timestamp, out: &mut Vec<Decision>) {
        for symbol in self.symbols.clone() {
            self.judge_fact(symbol, MetricDependency::InsiderTrades, now, out);
        }
    }

    /// Returns the insider trades of a stock; `None` before a source has delivered any, of any stock.
    pub(super) fn known_insider_trades(&self, stock: StockIndex) -> Option<&[InsiderTrade]> {
        let facts = self.stocks[stock.0 as usize].facts.as_deref();
        let trades = facts.map_or(&[][..], Facts::trades);
        self.feeds.has_delivered(Feed::Insiders).then_some(trades)
    }

    /// Judges the rules of facts alone that were armed since the last [`Event::Clock`](crate::engine::Event::Clock) or
    /// [`Event::Evaluate`](crate::engine::Event::Evaluate).
    pub(in crate::engine) fn judge_armed_fact_rules(&mut self, now: Timestamp, out: &mut Vec<Decision>) {
        for slot in self.rules.take_unjudged() {
            self.judge_fact_rule(slot, &BTreeSet::new(), now, out);
        }
    }

    /// Judges a rule of facts alone.
    pub(super) fn judge_fact_rule(
        &mut self,
        slot: Slot,
        observed: &BTreeSet<StockIndex>,
        now: Timestamp,
        out: &mut Vec<Decision>,
    ) {
        let cause = Cause { observed, is_new: true };
        self.judge_and_place(slot, now, cause, out);
    }

    /// Lets a rule be judged at the next observation or evaluation of any of its stocks.
    pub(super) fn make_due(&mut self, slot: Slot) {
        let Some(armed) = self.rules.get(slot) else {
            return;
        };
        let stocks: Vec<_> = armed.stocks.iter().map(|at| at.stock).collect();
        for stock in stocks {
            self.stocks[stock.0 as usize].rules.mark_all_due();
            self.hot.update(stock.0 as usize, HotLine::unsettle);
            self.mark_unsettled(self.symbols[stock.0 as usize]);
        }
    }
}

impl ArmedRule {
    /// Returns the next midnight in New York, if the rule of facts alone depends on the date.
    pub(super) fn next_date_change(&self, now: Timestamp) -> Option<Timestamp> {
        let depends = !self.has_market_data && self.has_dates;
        let tomorrow = depends.then(|| new_york_date(now).tomorrow().ok()).flatten()?;
        Some(new_york(tomorrow, 0, 0))
    }
}
