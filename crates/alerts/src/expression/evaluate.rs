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

/// The values of metrics at one evaluation.
pub trait MetricValues {
    /// Returns the value of a metric; `None` if it has none.
    fn value(&self, metric: MetricReference) -> Option<MetricValue>;

    /// Returns whether a stock (`None`: the alert's own) has a new observation since the previous evaluation. An evaluation
    /// for another reason makes no crossing of prices.
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

/// The truth of an expression at one evaluation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EvaluatedTruth {
    /// The truth.
    pub now: Truth,
    /// The truth once the crossings of this observation are over; those that `within` keeps are not. The same as
    /// [`now`](Self::now) if there is no crossing.
    pub afterwards: Truth,
}

/// Evaluates an expression. `crossings` has the state of each `crosses` at the previous observation, and at this one afterwards.
#[must_use]
pub fn evaluate(
    expression: &Expression,
    values: &impl MetricValues,
    time: EvaluationTime,
    crossings: &mut Crossings,
) -> EvaluatedTruth {
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
pub fn number_value(number: &NumericExpression, values: &impl MetricValues) -> Option<MetricValue> {
    match number {
        NumericExpression::Constant(constant) => Some(MetricValue::Exact(Fraction::from(constant.get()))),
        NumericExpression::Metric(metric) => values.value(*metric)?.checked(),
        NumericExpression::Negated(inner) => Some(number_value(inner, values)?.negate()),
        NumericExpression::Arithmetic(left, operator, right) => {
            let left = number_value(left, values)?;
            left.compute(*operator, &number_value(right, values)?)
        }
    }
}

/// Compares two numbers; `None` if one has no value.
#[must_use]
pub fn compare_numbers(
    left: &NumericExpression,
    right: &NumericExpression,
    values: &impl MetricValues,
) -> Option<Ordering> {
    number_value(left, values)?.compare(&number_value(right, values)?)
}

struct Evaluation<'a, V> {
    values: &'a V,
    time: EvaluationTime,
    crossings: &'a mut Crossings,
    next_crossing: usize,
}

impl<V: MetricValues> Evaluation<'_, V> {
    /// Evaluates all comparisons, even if the first decides: each crossing must be recorded.
    fn condition(&mut self, condition: &BooleanExpression) -> EvaluatedTruth {
        match condition {
            BooleanExpression::Comparison(comparison) => self.comparison(comparison),
            BooleanExpression::Not(inner) => {
                let inner = self.condition(inner);
                EvaluatedTruth {
                    now: !inner.now,
                    afterwards: !inner.afterwards,
                }
            }
            BooleanExpression::And(left, right) => {
                let (left, right) = (self.condition(left), self.condition(right));
                left.combined(right, Truth::and)
            }
            BooleanExpression::Or(left, right) => {
                let (left, right) = (self.condition(left), self.condition(right));
                left.combined(right, Truth::or)
            }
        }
    }

    fn comparison(&mut self, comparison: &Comparison) -> EvaluatedTruth {
        match comparison {
            Comparison::Crosses(left, direction, right) => self.crosses(left, *direction, right),
            other => EvaluatedTruth::steady(comparison_truth(other, self.values)),
        }
    }

    fn crosses(
        &mut self,
        left: &NumericExpression,
        direction: CrossingDirection,
        right: &NumericExpression,
    ) -> EvaluatedTruth {
        let index = self.next_crossing;
        self.next_crossing += 1;
        let crossed = if self.is_observed(left) || self.is_observed(right) {
            let after = compare_numbers(left, right, self.values);
            let before = self.crossings.replace_order(index, after);
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
            return EvaluatedTruth::steady(Truth::True);
        }
        EvaluatedTruth {
            now: crossed,
            afterwards: Truth::False,
        }
    }

    /// Returns whether a stock of the number's metrics has a new observation, or a metric is a fact. A fact is compared at every
    /// evaluation: the first one after its change sees it, whatever caused that evaluation.
    fn is_observed(&self, number: &NumericExpression) -> bool {
        let mut observed = false;
        number.for_each_metric(&mut |metric| {
            observed |= self.values.is_observed(metric.symbol) || metric.metric.depends_on_fact();
        });
        observed
    }
}

/// Returns the truth of a comparison of this observation alone; a `crosses` is false.
fn comparison_truth(comparison: &Comparison, values: &impl MetricValues) -> Truth {
    let holds = |left, relation: Relation, right| {
        let ordering = compare_numbers(left, right, values);
        Truth::from(ordering.map(|ordering| relation.holds(ordering)))
    };
    match comparison {
        Comparison::Relation(left, relation, right) => holds(left, *relation, right),
        Comparison::Between { value, low, high } => {
            holds(value, Relation::AtLeast, low).and(holds(value, Relation::AtMost, high))
        }
        Comparison::Crosses(..) => Truth::False,
    }
}

impl EvaluatedTruth {
    const fn steady(truth: Truth) -> Self {
        Self {
            now: truth,
            afterwards: truth,
        }
    }

    fn combined(self, other: Self, combine: impl Fn(Truth, Truth) -> Truth) -> Self {
        Self {
            now: combine(self.now, other.now),
            afterwards: combine(self.afterwards, other.afterwards),
        }
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
