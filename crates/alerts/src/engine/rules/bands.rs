//! The quiet bands of one rule.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::direct::RuleCondition;
use super::quiet_bands::{CertainTruth, StockPosition, quiet_bands};
use super::rule::ArmedRule;
use super::values::{RuleValues, SeenAt};
use crate::engine::Engine;
use crate::engine::event::StockIndex;
use crate::engine::group::Band;
use crate::engine::hot_line::seconds;
use crate::engine::stock::Stock;
use crate::expression::{EvaluatedTruth, Expression};
use crate::lifecycle::{Observation, Outcome, WaitReason, step};

impl Engine {
    /// Returns the bands of a rule's stocks in which the next observation changes nothing, after a judgement.
    pub(super) fn bands_after(&self, armed: &mut ArmedRule, now: Timestamp) -> Vec<Band> {
        if armed.ignores_observations() {
            return vec![Band::WIDE; armed.stocks.len()];
        }
        if armed.has_quote_details {
            // A quiet band is one of last prices.
            return vec![Band::EMPTY; armed.stocks.len()];
        }
        // A quiet band is one of prices in the session.
        let is_extended = |stock: StockIndex| self.stocks[stock.0 as usize].extended.is_some();
        if armed.judges_extended_hours() && armed.stock_indices().any(is_extended) {
            return vec![Band::EMPTY; armed.stocks.len()];
        }
        // A new 52-week extreme of one stock stays one while other stocks are observed, and ends at its own next observation.
        if armed.stocks.len() > 1 && armed.has_52_week_extremes {
            return vec![Band::EMPTY; armed.stocks.len()];
        }
        let options = &armed.rule.options;
        let state = &armed.rule.lifecycle;
        let none = BTreeSet::new();
        let values = self.values(armed, state, now, &none, SeenAt::Afterwards);
        if values.shares.iter().any(Option::is_some) {
            return vec![Band::EMPTY; armed.stocks.len()];
        }
        if armed.is_too_long_to_search || !armed.search_policy.should_search() {
            return vec![Band::EMPTY; armed.stocks.len()];
        }
        if !self.has_present_orders(armed, now) {
            return vec![Band::EMPTY; armed.stocks.len()];
        }
        let CertainTruth { truth, mut bands } = match &armed.rule.judged {
            RuleCondition::Expression(expression) => {
                let (certain, comparisons) = self.expression_bands(armed, expression, &values);
                armed.search_policy.note_search(seconds(now), comparisons);
                certain
            }
            RuleCondition::Direct(direct) => {
                let own = self.own_stock(armed, now, SeenAt::Afterwards);
                let truth = self.direct_truth(*direct, (&own, now), &mut state.clone());
                CertainTruth {
                    truth: direct.evaluated(&truth).now,
                    bands: vec![direct.quiet_band(&own.inputs, state); armed.stocks.len()],
                }
            }
        };
        // The extremes since arming are part of the state, even while they decide nothing.
        if let Some(extremes) = state.extremes.filter(|_| armed.has_armed_extremes) {
            for (at, band) in armed.stocks.iter().zip(&mut bands) {
                if at.name.is_none() {
                    band.lo = band.lo.max(extremes.low().micros() - 1);
                    band.hi = band.hi.min(extremes.high().micros() + 1);
                }
            }
        }
        let own = Stock::last_price(&self.hot.get(self.indices[&armed.rule.symbol].0 as usize));
        let observation = Observation {
            at: now,
            is_new: true,
            price: own.filter(|_| armed.has_armed_extremes),
            previous_price: own.filter(|_| armed.has_armed_extremes),
        };
        let same = EvaluatedTruth {
            now: truth,
            afterwards: truth,
        };
        let judgement = Self::judgement(armed, observation, same, &values);
        let again = step(options, &self.calendar, state, &judgement);
        // If the same truth changes the state once more, the next observation is judged whatever its price.
        if again.next != *state || !matches!(again.outcome, Outcome::Wait(_)) {
            return vec![Band::EMPTY; bands.len()];
        }
        // A snoozed rule has not been evaluated, so its bands say nothing about the end of the snooze, which is judged in time.
        // Extremes begin with the newest price of that moment, and a `crosses` compares with the last observation before it.
        if matches!(again.outcome, Outcome::Wait(WaitReason::Snoozed { .. })) {
            let is_watched = armed.has_armed_extremes || !state.crossings.orders().is_empty();
            let band = if is_watched { Band::EMPTY } else { Band::WIDE };
            return vec![band; bands.len()];
        }
        bands
    }

    /// Returns whether each `crosses` of a rule knows the order of its sides at the present prices. It does not if the rule was armed again
    /// with its state from before the last observation: the next one is compared with that state, so it must be judged whatever its price.
    fn has_present_orders(&self, armed: &ArmedRule, now: Timestamp) -> bool {
        let state = &armed.rule.lifecycle;
        let Some(expression) = armed.rule.judged.expression() else {
            return true;
        };
        if state.crossings.orders().is_empty() {
            return true;
        }
        let values = self.values(armed, state, now, &BTreeSet::new(), SeenAt::Observation);
        state.crossings.has_orders_at(expression, &values)
    }

    fn expression_bands(
        &self,
        armed: &ArmedRule,
        expression: &Expression,
        values: &RuleValues<'_>,
    ) -> (CertainTruth, u32) {
        let positions: Vec<_> = armed
            .stocks
            .iter()
            .map(|at| self.position(armed, at.stock, at.name))
            .collect();
        let crossings = &armed.rule.lifecycle.crossings;
        let lasting: Vec<_> = crossings.until().iter().map(Option::is_some).collect();
        let rearm = armed.rearm.as_ref().map(|rearm| (&rearm.metric, &rearm.level));
        quiet_bands(expression, rearm, &positions, values, &lasting)
    }

    fn position(&self, armed: &ArmedRule, stock: StockIndex, name: Option<market::Symbol>) -> StockPosition {
        let hot = &self.hot.get(stock.0 as usize);
        let (mut low, mut high) = (hot.low.min(hot.last), hot.high.max(hot.last));
        if let Some(extremes) = armed.rule.lifecycle.extremes.filter(|_| name.is_none()) {
            low = low.max(extremes.low().micros());
            high = high.min(extremes.high().micros());
        }
        StockPosition {
            symbol: name,
            price: hot.last,
            volume: hot.volume,
            low,
            high,
        }
    }
}
