//! Why an alert fires, or does not: the truth of each comparison, and the reason to wait.

use std::collections::BTreeSet;

use jiff::Timestamp;
use market::{Decimal, Symbol};

use super::direct::RuleCondition;
use super::distance::{distance, distance_of_all};
use super::explanation::{ExplainedTerm, Explanation, TermSource};
use super::reason::RuleReason;
use super::rule::{ArmedRule, Rule};
use super::values::{RuleValues, SeenAt};
use crate::EvaluatedAlert;
use crate::alert::{Alert, AlertId};
use crate::condition::{Condition, Side};
use crate::engine::Engine;
use crate::engine::event::StockIndex;
use crate::engine::level_index::Slot;
use crate::expression::ast::{BooleanExpression, Comparison, NumericExpression};
use crate::expression::shape::symbols;
use crate::expression::{Crossings, Expression, MetricValue, evaluate, number_value};
use crate::lifecycle::{Judgement, Lifecycle, Observation, Outcome, WaitReason, step};
use crate::options::{AlertOptions, PercentBase};

/// Returns the state of an alert without options as that of a rule.
fn lifecycle_without_options(condition: &Condition, awaited_side: Option<Side>, armed_at: Timestamp) -> Lifecycle {
    match condition {
        Condition::SocialBuzz(_) => Lifecycle::new_on_change(armed_at),
        _ => Lifecycle {
            // The side that an alert waits for is the other one.
            rsi_side: awaited_side.map(|side| side.pick(Side::Below, Side::Above)),
            ..Lifecycle::new(armed_at, None, None)
        },
    }
}

impl Engine {
    /// Explains an armed alert. `None` if it is not armed.
    #[must_use]
    pub fn explain(&self, id: AlertId, now: Timestamp) -> Option<Explanation> {
        match self.registry.find(id) {
            Some(slot) => self.explain_rule(&self.as_rule(slot)?, now),
            None => self.explain_rule(self.rules.find(id)?, now),
        }
    }

    /// Explains an active alert that another engine evaluates, by its stored state. `None` as for
    /// [`explain_unarmed`](Self::explain_unarmed).
    #[must_use]
    pub fn explain_elsewhere(&self, alert: &Alert, now: Timestamp) -> Option<Explanation> {
        self.explain_rule(&self.armed_elsewhere(alert)?, now)
    }

    /// Returns an active alert that another engine evaluates as a rule.
    pub(in crate::engine) fn armed_elsewhere(&self, alert: &Alert) -> Option<ArmedRule> {
        let lifecycle = match alert.lifecycle.as_deref() {
            Some(state) => state.clone(),
            None => lifecycle_without_options(&alert.condition, alert.rsi_side, alert.armed_at),
        };
        self.known_rule(alert, lifecycle)
    }

    /// Explains an alert that is not armed, as if it were armed now. `None` for a condition without comparisons, and while the engine
    /// knows nothing of one of its stocks.
    #[must_use]
    pub fn explain_unarmed(&self, alert: &Alert, now: Timestamp) -> Option<Explanation> {
        let lifecycle = match alert.condition {
            Condition::SocialBuzz(_) => Lifecycle::new_on_change(now),
            _ => Lifecycle::new(now, None, None),
        };
        self.explain_rule(&self.known_rule(alert, lifecycle)?, now)
    }

    /// Returns an alert as a rule in a state; `None` while the engine knows nothing of one of its stocks.
    fn known_rule(&self, alert: &Alert, lifecycle: Lifecycle) -> Option<ArmedRule> {
        let rule = Rule::with_lifecycle(&EvaluatedAlert::of(alert), lifecycle)?;
        let names = rule.judged.expression().map(symbols).unwrap_or_default();
        let is_known = |symbol: &Symbol| self.indices.contains_key(symbol);
        if !is_known(&rule.symbol) || !names.iter().flatten().all(is_known) {
            return None;
        }
        Some(ArmedRule::new(rule, |symbol| self.indices[&symbol]))
    }

    /// Returns one of the 23 conditions without options as a rule.
    fn as_rule(&self, slot: Slot) -> Option<ArmedRule> {
        let armed = self.registry.alert(slot);
        let (alert, revision) = self.registry.identity(slot);
        let rule = Rule {
            alert,
            revision,
            symbol: self.symbol(armed.stock),
            judged: RuleCondition::of(&armed.condition, PercentBase::default())?,
            expression_set_at: None,
            condition: armed.condition.clone(),
            options: AlertOptions::default(),
            initial_price: armed.initial_price,
            lifecycle: lifecycle_without_options(&armed.condition, armed.rsi_side, armed.armed_at),
        };
        Some(ArmedRule::new(rule, |_| armed.stock))
    }

    fn explain_rule(&self, armed: &ArmedRule, now: Timestamp) -> Option<Explanation> {
        let state = &armed.rule.lifecycle;
        let values = self.values(armed, state, now, &BTreeSet::new(), SeenAt::Observation);
        let time = self.evaluation_time(armed, now);
        let mut prepared = state.clone();
        let own = self.own_stock(armed, now, SeenAt::Observation);
        let truth = match &armed.rule.judged {
            RuleCondition::Expression(expression) => evaluate(expression, &values, time, &mut prepared.crossings),
            RuleCondition::Direct(direct) => {
                let truth = self.direct_truth(*direct, (&own, now), &mut prepared);
                direct.evaluated(&truth)
            }
        };
        let judgement = Judgement {
            observation: Observation {
                at: now,
                is_new: false,
                price: None,
                previous_price: None,
            },
            truth: truth.now,
            truth_after: truth.afterwards,
            is_rearm_level_reached: armed.rearm.as_ref().is_some_and(|level| level.is_reached(&values)),
        };
        let stepped = step(&armed.rule.options, &self.calendar, &prepared, &judgement);
        let wait = match stepped.outcome {
            // The next firing may have to wait for more than the condition.
            Outcome::Wait(reason @ (WaitReason::NotTrue | WaitReason::NoData)) => {
                Some(stepped.next.phase_reason(&armed.rule.options).unwrap_or(reason))
            }
            Outcome::Wait(reason) => Some(reason),
            Outcome::Fire { .. } | Outcome::Expire { .. } => None,
        };
        let todays = self.rule_today(armed);
        let armed = todays.as_ref().unwrap_or(armed);
        let (sentence, terms, distance_pct) = match &armed.rule.judged {
            RuleCondition::Expression(expression) => {
                let values = self.values(armed, state, now, &BTreeSet::new(), SeenAt::Observation);
                let crossings = (&state.crossings, &state.crossings);
                let terms = self.terms(armed, expression, &values, crossings, now);
                let distance_pct = distance(expression.condition(), &terms);
                (Some(expression.sentence(armed.rule.symbol)), terms, distance_pct)
            }
            RuleCondition::Direct(direct) => {
                let terms = self.direct_terms(*direct, &own, &prepared);
                let distance_pct = distance_of_all(&terms);
                (None, terms, distance_pct)
            }
        };
        Some(Explanation {
            sentence,
            truth: truth.now,
            distance_pct,
            terms,
            wait,
            next_check: self.next_check_of(armed, now),
        })
    }

    /// Returns the reason of a rule that fires, after the judgement of its expression, with the stocks that were observed.
    pub(super) fn expression_reason(
        &self,
        (armed, expression): (&ArmedRule, &Expression),
        prepared: &Lifecycle,
        observed: &BTreeSet<StockIndex>,
        now: Timestamp,
        held_since: Option<Timestamp>,
    ) -> RuleReason {
        let todays = self.rule_today(armed);
        let shown = todays.as_ref().unwrap_or(armed);
        let expression = shown.rule.judged.expression().unwrap_or(expression);
        let values = self.values(shown, prepared, now, observed, SeenAt::Observation);
        let crossings = (&armed.rule.lifecycle.crossings, &prepared.crossings);
        let terms = self.terms(shown, expression, &values, crossings, now);
        RuleReason::new(expression, &values, terms, held_since, armed.rule.options.trigger)
    }

    /// Returns the comparisons of a rule, with the state of its crossings before and at an observation.
    fn terms(
        &self,
        armed: &ArmedRule,
        expression: &Expression,
        values: &RuleValues<'_>,
        (before, after): (&Crossings, &Crossings),
        now: Timestamp,
    ) -> Vec<ExplainedTerm> {
        let mut terms = Vec::new();
        let mut crossing = 0;
        expression.condition().for_each_comparison(&mut |comparison| {
            let mut has_crossed = false;
            if let Comparison::Crosses(_, direction, _) = comparison {
                let order = |crossings: &Crossings| crossings.orders().get(crossing).copied().flatten();
                let until = after.until().get(crossing).copied().flatten();
                let crosses = order(before).zip(order(after));
                has_crossed = crosses.is_some_and(|(before, after)| direction.is_crossed(before, after))
                    || until.is_some_and(|until| now <= until);
                crossing += 1;
            }
            terms.push(self.term(armed, comparison, values, has_crossed));
        });
        terms
    }

    /// Returns the time of the last observation of a stock that a rule knows.
    fn observed_at(&self, armed: &ArmedRule, stock: StockIndex) -> Option<Timestamp> {
        let place = stock.0 as usize;
        let extended = self.stocks[place].extended.filter(|_| armed.judges_extended_hours());
        let in_session = Some(self.hot.get(place)).filter(|hot| hot.last != 0);
        extended
            .map(|newest| newest.at)
            .or_else(|| in_session.map(|hot| hot.last_at()))
    }

    fn term(
        &self,
        armed: &ArmedRule,
        comparison: &Comparison,
        values: &RuleValues<'_>,
        has_crossed: bool,
    ) -> ExplainedTerm {
        let (left, right, holds) = compared(comparison, values, has_crossed);
        let mut names = Vec::new();
        for operand in comparison.operands() {
            operand.for_each_metric(&mut |metric| names.push(metric.symbol));
        }
        let stocks = armed.stocks.iter().filter(|at| names.contains(&at.name));
        let as_of = stocks.filter_map(|at| self.observed_at(armed, at.stock)).min();
        let decimal = |value: Option<MetricValue>| Decimal::from_f64(value?.as_f64()).ok();
        let (left, right) = (decimal(left), decimal(right));
        ExplainedTerm {
            text: Expression::new(BooleanExpression::Comparison(comparison.clone()))
                .map(|term| term.to_string())
                .unwrap_or_default(),
            distance_pct: left.zip(right).and_then(|(left, right)| distance_pct(left, right)),
            left,
            right,
            holds,
            as_of,
            sources: TermSource::of(comparison),
        }
    }
}

/// Returns the compared numbers and whether the comparison is true.
fn compared(
    comparison: &Comparison,
    values: &RuleValues<'_>,
    has_crossed: bool,
) -> (Option<MetricValue>, Option<MetricValue>, Option<bool>) {
    let value = |number: &NumericExpression| number_value(number, values);
    let order = |one: &Option<MetricValue>, other: &Option<MetricValue>| one.as_ref()?.compare(other.as_ref()?);
    match comparison {
        Comparison::Relation(left, relation, right) => {
            let (left, right) = (value(left), value(right));
            let holds = order(&left, &right).map(|order| relation.holds(order));
            (left, right, holds)
        }
        Comparison::Between {
            value: number,
            low,
            high,
        } => {
            let (left, low, high) = (value(number), value(low), value(high));
            let (from_low, from_high) = (order(&left, &low), order(&left, &high));
            let holds = match (
                from_low.map(|order| order.is_ge()),
                from_high.map(|order| order.is_le()),
            ) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            };
            let is_above = from_high.is_some_and(|order| order.is_gt());
            (left, if is_above { high } else { low }, holds)
        }
        Comparison::Crosses(left, _, right) => {
            let (left, right) = (value(left), value(right));
            let holds = order(&left, &right).map(|_| has_crossed);
            (left, right, holds)
        }
    }
}

/// Returns the absolute distance between two numbers in percent of the first one, halves rounded up; `None` at zero.
pub(super) fn distance_pct(from: Decimal, to: Decimal) -> Option<Decimal> {
    let (from, to) = (i128::from(from.micros()), i128::from(to.micros()));
    let way = (to - from)
        .abs()
        .checked_mul(100 * i128::from(market::MICROS_PER_UNIT))?;
    let percent = (way + from.abs() / 2).checked_div(from.abs())?;
    i64::try_from(percent).ok().map(Decimal::from_micros)
}
