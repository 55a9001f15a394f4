//! Rules: expressions, and all alerts with options.
//!
//! Each rule has a quiet band for each of its stocks ([`quiet_bands`]); the [`index`] of a stock finds the rules whose band an
//! observation leaves, and only those are judged ([`judge`]). The band of the stock includes those of its rules, so a quiet
//! observation costs the same with and without rules.

mod armed_rules;
mod evaluation;
mod explain;
mod index;
mod judge;
mod quiet_bands;
mod rearm_level;
mod reason;
mod rule;
mod search;
mod values;

pub(super) use armed_rules::ArmedRules;
pub use explain::{ExplainedTerm, Explanation};
pub(super) use index::RuleIndex;
pub use reason::RuleReason;
pub(super) use rule::ArmedRule;
pub use rule::Rule;

use std::collections::BTreeSet;

use jiff::Timestamp;
use market::calendar::new_york_date;
use market::{SplitRatio, Symbol};

use super::Engine;
use super::decision::Decision;
use super::event::StockIndex;
use super::hot_line::NO_DAY;
use super::level_index::Slot;
use super::stock::Stock;
use crate::alert::AlertId;
use crate::lifecycle::ArmedExtremes;
use judge::{Cause, RuleFate};
use values::SeenAt;

impl Engine {
    /// Arms a rule in place of its earlier revision. It is judged at the next observation, or evaluation, of its stocks.
    pub(super) fn arm_rule(&mut self, rule: Rule, now: Timestamp) {
        self.disarm_rule(rule.alert);
        let id = rule.alert;
        let mut armed = ArmedRule::new(rule, |symbol| self.stock(symbol));
        self.stock(armed.rule.symbol);
        if armed.has_armed_extremes && armed.rule.lifecycle.extremes.is_none() {
            let own = self.stock(armed.rule.symbol);
            let newest = Stock::last_price(&self.hot[own.0 as usize]);
            armed.rule.lifecycle.extremes = newest.map(ArmedExtremes::new);
            armed.has_new_state = newest.is_some();
        }
        let state = &armed.rule.lifecycle;
        if state.crossings.orders().is_empty() {
            let values = self.values(&armed, state, now, &BTreeSet::new(), SeenAt::Observation);
            armed.rule.lifecycle.crossings = state.crossings.clone().with_orders_at(&armed.rule.expression, &values);
            armed.has_new_state |= !armed.rule.lifecycle.crossings.orders().is_empty();
        }
        armed.next_check = if armed.is_about_market {
            self.next_check_of(&armed, now)
        } else {
            Some(now)
        };
        let stocks: Vec<_> = armed.stocks.iter().map(|at| (at.stock, at.band)).collect();
        let next_check = armed.next_check;
        let slot = self.rules.add(id, armed);
        self.rules.schedule(slot, None, next_check);
        for (stock, band) in stocks {
            self.stocks[stock.0 as usize].rules.insert(slot, band);
            self.hot[stock.0 as usize].unsettle();
            self.mark_unsettled(self.symbols[stock.0 as usize]);
        }
    }

    /// Disarms a rule. Returns whether it was armed.
    pub(super) fn disarm_rule(&mut self, id: AlertId) -> bool {
        let Some((slot, armed)) = self.rules.remove(id) else {
            return false;
        };
        self.rules.schedule(slot, armed.next_check, None);
        for at in &armed.stocks {
            self.stocks[at.stock.0 as usize].rules.remove(slot, at.band);
        }
        true
    }

    /// Judges the rules whose bands the new observations of these stocks leave, each once.
    pub(super) fn judge_observed(&mut self, observed: &BTreeSet<StockIndex>, now: Timestamp, out: &mut Vec<Decision>) {
        let mut due = BTreeSet::new();
        for stock in observed {
            let hot = &self.hot[stock.0 as usize];
            due.extend(self.stocks[stock.0 as usize].rules.take_left_by(hot.last, hot.volume));
        }
        let cause = Cause { observed, is_new: true };
        for slot in due {
            self.judge_and_place(slot, now, cause, out);
        }
    }

    /// Judges the rules of a stock again, after something became known besides an observation.
    pub(super) fn rejudge(&mut self, stock: StockIndex, now: Timestamp, out: &mut Vec<Decision>) {
        let due = self.stocks[stock.0 as usize].rules.take_all();
        let cause = Cause {
            observed: &BTreeSet::new(),
            is_new: true,
        };
        for slot in due {
            self.judge_and_place(slot, now, cause, out);
        }
    }

    /// Ends the rules that have expired, and lets those whose time has come be judged at the next observation or evaluation.
    pub(super) fn advance_rules(&mut self, now: Timestamp, out: &mut Vec<Decision>) {
        while let Some(slot) = self.rules.pop_due(now) {
            let Some(armed) = self.rules.get_mut(slot) else {
                continue;
            };
            armed.next_check = None;
            let has_expired = armed.rule.options.expires().is_some_and(|expiry| expiry <= now);
            if has_expired || !armed.is_about_market {
                // The date is an observation of facts.
                let observed = armed.stocks.iter().map(|at| at.stock);
                let observed: BTreeSet<_> = observed.filter(|_| !armed.is_about_market).collect();
                let cause = Cause {
                    observed: &observed,
                    is_new: !armed.is_about_market,
                };
                self.judge_and_place(slot, now, cause, out);
                continue;
            }
            let stocks: Vec<_> = armed.stocks.iter().map(|at| at.stock).collect();
            for stock in stocks {
                self.stocks[stock.0 as usize].rules.mark_all_due();
                self.hot[stock.0 as usize].unsettle();
                self.mark_unsettled(self.symbols[stock.0 as usize]);
            }
        }
    }

    /// Judges the rules that are about facts of a stock alone, after one became known. The others are judged with the next
    /// observation or evaluation.
    pub(super) fn judge_facts(&mut self, symbol: Symbol, now: Timestamp, out: &mut Vec<Decision>) {
        let stock = self.stock(symbol);
        let rules = &mut self.stocks[stock.0 as usize].rules;
        if rules.is_empty() {
            return;
        }
        let about_facts: Vec<_> = rules
            .take_all()
            .into_iter()
            .filter(|&slot| self.rules.get_mut(slot).is_some_and(|armed| !armed.is_about_market))
            .collect();
        let observed = BTreeSet::from([stock]);
        let cause = Cause {
            observed: &observed,
            is_new: true,
        };
        for slot in about_facts {
            self.judge_and_place(slot, now, cause, out);
        }
        self.stocks[stock.0 as usize].rules.mark_all_due();
        self.hot[stock.0 as usize].unsettle();
        self.mark_unsettled(symbol);
    }

    /// Converts the prices that belong to the rules of a stock to new shares.
    pub(super) fn split_rules(&mut self, stock: StockIndex, ratio: SplitRatio) {
        for slot in self.stocks[stock.0 as usize].rules.take_all() {
            let Some(armed) = self.rules.get_mut(slot) else {
                continue;
            };
            let is_own = armed.stocks.iter().any(|at| at.stock == stock && at.name.is_none());
            if is_own {
                armed.rule.lifecycle = armed.rule.lifecycle.after_split(ratio);
                armed.rule.initial_price = armed.rule.initial_price.map(|price| price.after_split(ratio));
                armed.previous_price = armed.previous_price.map(|price| price.after_split(ratio));
            }
        }
        self.stocks[stock.0 as usize].rules.mark_all_due();
    }

    /// Ends the sessions of earlier days of a rule's stocks, which otherwise end at the next observation of the stock.
    fn end_past_sessions(&mut self, armed: &ArmedRule, now: Timestamp) {
        let today = new_york_date(now);
        for at in &armed.stocks {
            let (stock, hot) = (
                &mut self.stocks[at.stock.0 as usize],
                &mut self.hot[at.stock.0 as usize],
            );
            if stock.session.is_some_and(|session| session.date < today) {
                stock.end_session(hot);
                stock.rules.mark_all_due();
            }
        }
    }

    fn judge_and_place(&mut self, slot: Slot, now: Timestamp, cause: Cause<'_>, out: &mut Vec<Decision>) {
        let Some(mut armed) = self.rules.take(slot) else {
            return;
        };
        let id = armed.rule.alert;
        self.end_past_sessions(&armed, now);
        let fate = self.judge(&mut armed, now, cause, out);
        if fate == RuleFate::Ends {
            self.rules.put_back(slot, armed);
            self.disarm_rule(id);
            return;
        }
        let bands = self.bands_after(&armed, now);
        for (at, band) in armed.stocks.iter_mut().zip(bands) {
            let place = at.stock.0 as usize;
            // Outside a session the next observation begins one, which changes everything.
            let band = if self.hot[place].day == NO_DAY {
                super::group::Band::EMPTY
            } else {
                band
            };
            self.stocks[place].rules.replace(slot, at.band, band);
            at.band = band;
            self.stocks[place].settle(&mut self.hot[place]);
        }
        let next = self.next_check_of(&armed, now).filter(|&next| next > now);
        self.rules.schedule(slot, armed.next_check, next);
        armed.next_check = next;
        self.rules.put_back(slot, armed);
    }
}
