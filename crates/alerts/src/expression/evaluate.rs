//! Evaluation of an expression.

use std::cmp::Ordering;

use jiff::Timestamp;
use market::Symbol;

use super::ast::{BooleanExpression, Comparison, CrossingDirection, MetricReference, NumericExpression, Relation};
use super::crossing::Crossings;
use super::fraction::Fraction;
use super::model::Expression;
use super::truth::Truth;
use super::value::MetricValue;

/// The observation as of which a metric is read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ObservationMoment {
    /// Now, this observation included.
    Now,
    /// Immediately before this observation, with the data of that time.
    Previous,
}

/// The values of metrics at one evaluation.
pub trait MetricValues {
    /// Returns the value of a metric; `None` if it has none.
    fn value(&self, metric: MetricReference, at: ObservationMoment) -> Option<MetricValue>;

    /// Returns whether a stock (`None`: the alert's own) has a new observation since the previous evaluation. An evaluation
    /// for another reason, such as a new fact, makes no crossing.
    fn is_observed(&self, symbol: Option<Symbol>) -> bool;
}

/// The time of an evaluation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EvaluationTime {
    /// The instant.
    pub now: Timestamp,
    /// The close of the session.
    pub session_close: Timestamp,
}

/// Evaluates an expression. `crossings` are those since the alert was armed, for the option `within`.
#[must_use]
pub fn evaluate(
    expression: &Expression,
    values: &impl MetricValues,
    time: EvaluationTime,
    crossings: &mut Crossings,
) -> Truth {
    let mut evaluation = Evaluation {
        values,
        time,
        crossings,
        next_crossing: 0,
    };
    evaluation.condition(expression.condition())
}

/// Returns the value of a number; `None` if a metric has none, and after a division by zero.
#[must_use]
pub fn number_value(
    number: &NumericExpression,
    values: &impl MetricValues,
    at: ObservationMoment,
) -> Option<MetricValue> {
    match number {
        NumericExpression::Constant(constant) => Some(MetricValue::Exact(Fraction::from(constant.get()))),
        NumericExpression::Metric(metric) => values.value(*metric, at)?.checked(),
        NumericExpression::Negated(inner) => Some(number_value(inner, values, at)?.negate()),
        NumericExpression::Arithmetic(left, operator, right) => {
            let left = number_value(left, values, at)?;
            left.compute(*operator, &number_value(right, values, at)?)
        }
    }
}

struct Evaluation<'a, V> {
    values: &'a V,
    time: EvaluationTime,
    crossings: &'a mut Crossings,
    next_crossing: usize,
}

impl<V: MetricValues> Evaluation<'_, V> {
    /// Evaluates all comparisons, even if the first decides: each crossing must be recorded.
    fn condition(&mut self, condition: &BooleanExpression) -> Truth {
        match condition {
            BooleanExpression::Comparison(comparison) => self.comparison(comparison),
            BooleanExpression::Not(inner) => !self.condition(inner),
            BooleanExpression::And(left, right) => {
                let left = self.condition(left);
                left.and(self.condition(right))
            }
            BooleanExpression::Or(left, right) => {
                let left = self.condition(left);
                left.or(self.condition(right))
            }
        }
    }

    fn comparison(&mut self, comparison: &Comparison) -> Truth {
        match comparison {
            Comparison::Relation(left, relation, right) => self.relation(left, *relation, right),
            Comparison::Between { value, low, high } => {
                let above = self.relation(value, Relation::AtLeast, low);
                above.and(self.relation(value, Relation::AtMost, high))
            }
            Comparison::Crosses(left, direction, right) => self.crosses(left, *direction, right),
        }
    }

    fn relation(&self, left: &NumericExpression, relation: Relation, right: &NumericExpression) -> Truth {
        let ordering = self.compare(left, right, ObservationMoment::Now);
        Truth::from(ordering.map(|ordering| relation.holds(ordering)))
    }

    fn compare(&self, left: &NumericExpression, right: &NumericExpression, at: ObservationMoment) -> Option<Ordering> {
        number_value(left, self.values, at)?.compare(&number_value(right, self.values, at)?)
    }

    fn crosses(&mut self, left: &NumericExpression, direction: CrossingDirection, right: &NumericExpression) -> Truth {
        let index = self.next_crossing;
        self.next_crossing += 1;
        let crossed = if self.is_observed(left) || self.is_observed(right) {
            let before = self.compare(left, right, ObservationMoment::Previous);
            let after = self.compare(left, right, ObservationMoment::Now);
            Truth::from(
                before
                    .zip(after)
                    .map(|(before, after)| direction.is_crossed(before, after)),
            )
        } else {
            Truth::False
        };
        if crossed.is_true() {
            self.crossings.record(index, self.time.now, self.time.session_close);
        }
        if self.crossings.counts(index, self.time.now) {
            Truth::True
        } else {
            crossed
        }
    }

    /// Returns whether a stock of the number's metrics has a new observation.
    fn is_observed(&self, number: &NumericExpression) -> bool {
        let mut observed = false;
        number.for_each_metric(&mut |metric| observed |= self.values.is_observed(metric.symbol));
        observed
    }
}

impl Relation {
    /// Returns whether the relation holds between numbers with this order.
    #[must_use]
    pub const fn holds(self, ordering: Ordering) -> bool {
        match self {
            Self::Below => ordering.is_lt(),
            Self::AtMost => ordering.is_le(),
            Self::Above => ordering.is_gt(),
            Self::AtLeast => ordering.is_ge(),
        }
    }
}

impl CrossingDirection {
    /// Returns whether two numbers with these orders have crossed: strictly on one side before, and at or beyond the other now.
    #[must_use]
    pub const fn is_crossed(self, before: Ordering, after: Ordering) -> bool {
        let above = before.is_lt() && after.is_ge();
        let below = before.is_gt() && after.is_le();
        match self {
            Self::Above => above,
            Self::Below => below,
            Self::Either => above || below,
        }
    }
}
