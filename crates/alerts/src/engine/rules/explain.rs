//! The explanation of an alert: what it waits for, comparison by comparison.

use std::collections::BTreeSet;

use jiff::Timestamp;
use market::Decimal;

use super::reason::rounded;
use super::rule::{ArmedRule, Rule};
use super::values::{RuleValues, SeenAt};
use crate::alert::Alert;
use crate::engine::Engine;
use crate::engine::event::Feed;
use crate::expression::ast::{Comparison, NumericExpression};
use crate::expression::{Crossings, EvaluationTime, MetricValue, Truth, comparison_truth, evaluate, number_value};
use crate::lifecycle::{Judgement, Observation, Outcome, WaitReason, step};

/// Why an alert fires or not at one instant.
#[derive(Clone, PartialEq, Debug)]
pub struct Explanation {
    /// The truth of the condition.
    pub truth: Truth,
    /// One term for each comparison, in the order of the text.
    pub terms: Vec<ExplainedTerm>,
    /// The reason why the alert does not fire now; `None` if it fires at the next judgement.
    pub wait: Option<WaitReason>,
    /// The next instant at which the alert is judged without a new observation.
    pub next_check: Option<Timestamp>,
}

/// One comparison of an expression.
#[derive(Clone, PartialEq, Debug)]
pub struct ExplainedTerm {
    /// The text.
    pub text: String,
    /// The left side.
    pub left: Option<Decimal>,
    /// The right side; of a `between` the nearer end that is not reached, otherwise the lower one.
    pub right: Option<Decimal>,
    /// Whether the comparison holds.
    pub truth: Truth,
    /// The change of the left side, in percent of it, that makes the sides equal; 0 if the comparison holds.
    pub distance_pct: Option<Decimal>,
    /// The time of the last observation of the left side's stock.
    pub as_of: Option<Timestamp>,
    /// The feeds that deliver the data of both sides.
    pub feeds: Vec<Feed>,
}

impl Engine {
    /// Explains an alert at the present moment; `None` if its condition is no expression, or if a stock is unknown.
    #[must_use]
    pub fn explain(&self, alert: &Alert, now: Timestamp) -> Option<Explanation> {
        let described;
        let armed = match self.rules.find(alert.id) {
            Some(armed) => armed,
            None => {
                described = self.described(alert)?;
                &described
            }
        };
        let rule = &armed.rule;
        let state = &rule.lifecycle;
        let values = self.values(armed, state, now, &BTreeSet::new(), SeenAt::Observation);
        let session = self.calendar.session_at(now);
        let time = EvaluationTime {
            now,
            session_close: session.map_or(now, |session| session.close),
        };
        let truth = evaluate(&rule.expression, &values, time, &mut state.crossings.clone());
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
        let wait = match step(&rule.options, &self.calendar, state, &judgement).outcome {
            Outcome::Wait(reason) => Some(reason),
            Outcome::Fire { .. } | Outcome::Expire { .. } => None,
        };
        Some(Explanation {
            truth: truth.now,
            terms: self.terms(armed, &values, (&state.crossings, &state.crossings), now),
            wait,
            next_check: self.next_check_of(armed, now),
        })
    }

    /// Returns an alert that is not armed as a rule, such as a paused one, as if it were.
    fn described(&self, alert: &Alert) -> Option<ArmedRule> {
        let rule = Rule::describing(alert)?;
        let known = crate::expression::shape::symbols(&rule.expression)
            .into_iter()
            .all(|name| self.indices.contains_key(&name.unwrap_or(rule.symbol)));
        known.then(|| ArmedRule::new(rule, |symbol| self.indices[&symbol]))
    }

    /// Returns the comparisons of a rule, with the state of its crossings before and at an observation.
    pub(super) fn terms(
        &self,
        armed: &ArmedRule,
        values: &RuleValues<'_>,
        (before, after): (&Crossings, &Crossings),
        now: Timestamp,
    ) -> Vec<ExplainedTerm> {
        let mut terms = Vec::new();
        let mut crossing = 0;
        armed
            .rule
            .expression
            .condition()
            .for_each_comparison(&mut |comparison| {
                let truth = match comparison {
                    Comparison::Crosses(_, direction, _) => {
                        let order = |crossings: &Crossings| crossings.orders().get(crossing).copied().flatten();
                        let until = after.until().get(crossing).copied().flatten();
                        let crossed = order(before).zip(order(after));
                        let crossed = crossed.is_some_and(|(before, after)| direction.is_crossed(before, after));
                        crossing += 1;
                        Truth::from(Some(crossed || until.is_some_and(|until| now <= until)))
                    }
                    other => comparison_truth(other, values),
                };
                terms.push(self.term(armed, comparison, truth, values));
            });
        terms
    }

    fn term(&self, armed: &ArmedRule, comparison: &Comparison, truth: Truth, values: &RuleValues<'_>) -> ExplainedTerm {
        let (left, right) = sides(comparison, values);
        let value = |number: &NumericExpression| number_value(number, values);
        let (left_value, right_value) = (value(left), value(right));
        let distance = match truth {
            Truth::True => Some(Decimal::ZERO),
            _ => distance(left_value.as_ref(), right_value.as_ref()),
        };
        let mut as_of = None;
        left.for_each_metric(&mut |used| {
            let stock = armed.stocks.iter().find(|at| at.name == used.symbol);
            let hot = stock
                .map(|at| &self.hot[at.stock.0 as usize])
                .filter(|hot| hot.last != 0);
            as_of = as_of.max(hot.map(|hot| hot.last_at()));
        });
        let mut feeds = BTreeSet::new();
        for side in [left, right] {
            side.for_each_metric(&mut |used| {
                feeds.extend(
                    used.metric
                        .spec()
                        .needs
                        .iter()
                        .map(|need| super::evaluation::feed_of(*need)),
                );
            });
        }
        ExplainedTerm {
            text: comparison.to_string(),
            left: left_value.as_ref().and_then(rounded),
            right: right_value.as_ref().and_then(rounded),
            truth,
            distance_pct: distance,
            as_of,
            feeds: feeds.into_iter().collect(),
        }
    }
}

/// Returns the two sides of a comparison; of a `between` the end that matters.
fn sides<'a>(comparison: &'a Comparison, values: &RuleValues<'_>) -> (&'a NumericExpression, &'a NumericExpression) {
    match comparison {
        Comparison::Relation(left, _, right) | Comparison::Crosses(left, _, right) => (left, right),
        Comparison::Between { value, low, high } => {
            let above = number_value(value, values)
                .zip(number_value(high, values))
                .and_then(|(value, high)| value.compare(&high));
            if above.is_some_and(std::cmp::Ordering::is_gt) {
                (value, high)
            } else {
                (value, low)
            }
        }
    }
}

/// Returns the change of the left side in percent that makes it equal to the right one.
fn distance(left: Option<&MetricValue>, right: Option<&MetricValue>) -> Option<Decimal> {
    let (left, right) = (left?.as_f64(), right?.as_f64());
    Decimal::from_f64((right - left) / left.abs() * 100.0).ok()
}
