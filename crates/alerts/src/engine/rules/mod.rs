//! Rules: expressions, and all alerts with options.
//!
//! Each rule has a quiet band for each of its stocks ([`quiet_bands`]); the [`index`] of a stock finds the rules whose band an
//! observation leaves, and only those are judged ([`judge`]). The band of the stock includes those of its rules, so a quiet
//! observation costs the same with and without rules.

mod armed_rules;
mod bands;
mod close;
mod direct;
mod direct_terms;
mod distance;
mod earlier_shares;
mod evaluation;
mod explain;
mod explanation;
mod extended_hours;
mod facts;
mod index;
mod judge;
mod quiet_bands;
mod rearm_level;
mod reason;
mod rule;
mod search;
mod search_policy;
mod splits;
mod values;

pub(super) use armed_rules::ArmedRules;
pub use explanation::{ExplainedTerm, Explanation, TermSource};
pub(super) use index::RuleIndex;
pub use reason::RuleReason;
pub(super) use rule::{ArmedRule, Rule};

use std::collections::BTreeSet;

use jiff::Timestamp;
use market::calendar::new_york_date;

use super::Engine;
use super::decision::{AlertAction, Decision};
use super::event::StockIndex;
use super::hot_line::{HotLine, NO_DAY};
use super::level_index::Slot;
use crate::alert::AlertId;
use crate::expression::shape::metrics;
use crate::lifecycle::{ArmedExtremes, ArmedFigures};
use crate::metrics::track;
use direct::RuleCondition;
use judge::{AfterJudgement, Cause};
use values::SeenAt;

impl Engine {
    /// Arms a rule in place of its earlier revision. It is judged at the next observation, or evaluation, of its stocks.
    pub(super) fn arm_rule(&mut self, rule: Rule, now: Timestamp, out: &mut Vec<Decision>) {
        self.disarm_rule(rule.alert);
        let id = rule.alert;
        let mut armed = ArmedRule::new(rule, |symbol| self.stock(symbol));
        self.stock(armed.rule.symbol);
        self.track_metrics(&armed);
        self.await_close(&mut armed, now);
        self.note_state_at_arming(&mut armed, now, out);
        let check = self.scheduled_check(&armed, now);
        armed.next_check = check.into_iter().chain(self.first_moment(&armed)).min();
        let is_of_facts = !armed.has_market_data && !armed.is_of_time();
        let is_extended = armed.judges_extended_hours();
        let stocks: Vec<_> = armed.stocks.iter().map(|at| (at.stock, at.band)).collect();
        let next_check = armed.next_check;
        let slot = self.rules.add(id, armed);
        self.rules.schedule(slot, None, next_check);
        if is_of_facts {
            self.rules.add_unjudged(slot);
        }
        for (stock, band) in stocks {
            self.stocks[stock.0 as usize].rules.insert(slot, band);
            if is_extended {
                self.stocks[stock.0 as usize].rules.insert_extended(slot);
            }
            self.hot.update(stock.0 as usize, HotLine::unsettle);
            self.mark_unsettled(self.symbols[stock.0 as usize]);
        }
    }

    /// Finds the state of a rule at the moment of arming, and lets it be stored at once. After a restart it is the stored one.
    fn note_state_at_arming(&self, armed: &mut ArmedRule, now: Timestamp, out: &mut Vec<Decision>) {
        let seen = self.seen_at_arming(armed);
        let stored = armed.rule.lifecycle.clone();
        if armed.has_armed_extremes {
            armed.previous_price = self.own_judged_price(armed, now, seen);
        }
        match armed.rule.judged.direct() {
            Some(direct) => self.note_condition_at_arming(armed, direct, now, seen),
            None => self.note_figures_at_arming(armed, now, seen),
        }
        if armed.rule.lifecycle != stored {
            out.push(Decision {
                alert: armed.rule.alert,
                revision: armed.rule.revision,
                stock: self.indices[&armed.rule.symbol],
                at: now,
                action: AlertAction::SetLifecycle {
                    state: Box::new(armed.rule.lifecycle.clone()),
                },
            });
        }
    }

    /// Records the first extremes of an expression and the orders of the sides of each `crosses`, unless they are known.
    fn note_figures_at_arming(&self, armed: &mut ArmedRule, now: Timestamp, seen: SeenAt) {
        let state = &armed.rule.lifecycle;
        let Some(expression) = armed.rule.judged.expression() else {
            return;
        };
        // Earlier versions stored the orders with the first judgement.
        if state.figures != ArmedFigures::NotFound || !state.crossings.orders().is_empty() {
            return;
        }
        let mut next = state.clone();
        if armed.has_armed_extremes {
            next.extremes = state.extremes.or(armed.previous_price.map(ArmedExtremes::new));
            next.figures = ArmedFigures::AtArming;
        }
        let values = self.values(armed, &next, now, &BTreeSet::new(), seen);
        next.crossings = next.crossings.with_orders_at(expression, &values);
        if !next.crossings.orders().is_empty() {
            next.figures = ArmedFigures::AtArming;
        }
        armed.rule.lifecycle = next;
    }

    /// Lets the histories of a rule's stocks keep what its metrics need.
    fn track_metrics(&mut self, armed: &ArmedRule) {
        let expression = match &armed.rule.judged {
            RuleCondition::Expression(expression) => expression,
            RuleCondition::Direct(direct) => {
                let own = self.stock(armed.rule.symbol);
                direct.track(&mut self.stocks[own.0 as usize].history);
                return;
            }
        };
        for used in metrics(expression) {
            if let Some(at) = armed.stocks.iter().find(|at| at.name == used.symbol) {
                track(&mut self.stocks[at.stock.0 as usize].history, used.metric);
            }
        }
    }

    /// Disarms a rule. Returns whether it was armed.
    pub(super) fn disarm_rule(&mut self, id: AlertId) -> bool {
        let Some((slot, armed)) = self.rules.remove(id) else {
            return false;
        };
        self.rules.schedule(slot, armed.next_check, None);
        for at in &armed.stocks {
            let rules = &mut self.stocks[at.stock.0 as usize].rules;
            rules.remove(slot, at.band);
            rules.remove_extended(slot);
        }
        true
    }

    /// Judges the rules whose bands the new observations of these stocks leave, each once.
    pub(super) fn judge_observed(&mut self, observed: &BTreeSet<StockIndex>, now: Timestamp, out: &mut Vec<Decision>) {
        let mut due = BTreeSet::new();
        for stock in observed {
            let hot = self.hot.get(stock.0 as usize);
            due.extend(self.stocks[stock.0 as usize].rules.take_left_by(hot.last, hot.volume));
        }
        let cause = Cause { observed, is_new: true };
        for slot in due {
            self.judge_between_closes(slot, now, cause, out);
        }
    }

    /// Judges the rules of a stock again, after something became known besides an observation. Those that `judged` has are left out.
    pub(super) fn rejudge(
        &mut self,
        stock: StockIndex,
        now: Timestamp,
        judged: &mut BTreeSet<Slot>,
        out: &mut Vec<Decision>,
    ) {
        let mut due = self.stocks[stock.0 as usize].rules.take_all();
        due.retain(|slot| judged.insert(*slot));
        // The price is the one of the last observation, so it is not one of two for the trigger `two_lasts`.
        let cause = Cause {
            observed: &BTreeSet::new(),
            is_new: false,
        };
        for slot in due {
            self.judge_between_closes(slot, now, cause, out);
        }
    }

    /// Judges a rule that was re-armed again, with the extremes since then. A stale price does not fire.
    pub(super) fn judge_rearmed(&mut self, slot: Slot, now: Timestamp, out: &mut Vec<Decision>) {
        let is_fresh = |stock: StockIndex| self.is_fresh(stock.0 as usize, now);
        if self
            .rules
            .get(slot)
            .is_some_and(|armed| armed.stock_indices().any(is_fresh))
        {
            let cause = Cause {
                observed: &BTreeSet::new(),
                is_new: false,
            };
            self.judge_between_closes(slot, now, cause, out);
        }
    }

    /// Ends the rules that have expired, and lets those whose time has come be judged at the next observation or evaluation.
    pub(super) fn advance_rules(&mut self, now: Timestamp, out: &mut Vec<Decision>) {
        while let Some((check, slot)) = self.rules.pop_due(now) {
            let Some(armed) = self.rules.get_mut(slot) else {
                continue;
            };
            armed.next_check = None;
            if armed.is_of_time() {
                // An instant that was missed is judged as of then.
                let cause = Cause {
                    observed: &BTreeSet::new(),
                    is_new: false,
                };
                self.judge_and_place(slot, check, cause, out);
                continue;
            }
            if armed.next_close.is_some_and(|close| close < now) {
                self.judge_close(slot, now, out);
                continue;
            }
            if armed.rule.options.expires().is_some_and(|expiry| expiry <= now) {
                let cause = Cause {
                    observed: &BTreeSet::new(),
                    is_new: false,
                };
                self.judge_and_place(slot, now, cause, out);
                continue;
            }
            if armed.has_market_data {
                // It can expire before the next observation.
                let expiry = armed.rule.options.expires();
                armed.next_check = expiry;
                self.rules.schedule(slot, None, expiry);
                self.make_due(slot);
            } else {
                // The date in New York has changed, or the state of the life cycle is due.
                let observed = armed.stock_indices().collect();
                self.judge_fact_rule(slot, &observed, now, out);
            }
        }
    }

    /// Ends the sessions of earlier days of a rule's stocks, which otherwise end at the next observation of the stock.
    fn end_past_sessions(&mut self, armed: &ArmedRule, now: Timestamp) {
        let today = new_york_date(now);
        for at in &armed.stocks {
            let place = at.stock.0 as usize;
            let stock = &mut self.stocks[place];
            if stock.session.is_some_and(|session| session.date < today) {
                self.hot.update(place, |hot| stock.end_session(hot));
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
        self.note_left_bands(&mut armed, cause);
        let effect = self.judge(&mut armed, now, cause, out);
        if effect == AfterJudgement::Disarm {
            self.rules.put_back(slot, armed);
            self.disarm_rule(id);
            return;
        }
        let bands = self.bands_after(&mut armed, now);
        let ignores_observations = armed.ignores_observations();
        for (at, band) in armed.stocks.iter_mut().zip(bands) {
            let place = at.stock.0 as usize;
            // Outside a session the next observation begins one, which changes everything but the wait for a close or an instant.
            let band = if self.hot.get(place).day == NO_DAY && !ignores_observations {
                super::group::Band::EMPTY
            } else {
                band
            };
            self.stocks[place].rules.replace(slot, at.band, band);
            at.band = band;
            self.hot.update(place, |hot| self.stocks[place].settle(hot));
        }
        let next = self.scheduled_check(&armed, now).filter(|&next| next > now);
        self.rules.schedule(slot, armed.next_check, next);
        armed.next_check = next;
        self.rules.put_back(slot, armed);
        if effect == AfterJudgement::Rearmed && !ignores_observations {
            self.rules.add_rearmed(slot);
        }
    }
}
