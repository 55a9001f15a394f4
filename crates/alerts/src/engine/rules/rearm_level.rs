//! The level of the option `rearm`, as a comparison.

use std::cmp::Ordering;

use market::Decimal;

use crate::expression::ast::{ArithmeticOperator, BooleanExpression, Comparison, Constant, NumericExpression};
use crate::expression::shape::metric_level;
use crate::expression::{Expression, Fraction, MetricValues, compare_numbers};
use crate::options::Rearm;

/// The level to which a metric must return.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct RearmLevel {
    pub(super) metric: NumericExpression,
    pub(super) level: NumericExpression,
    /// Whether the expression is true above its own level.
    is_upward: bool,
}

impl RearmLevel {
    /// Returns the level; `None` if the expression is not one metric against a number.
    pub(super) fn new(expression: &Expression, rearm: Rearm) -> Option<Self> {
        let found = metric_level(expression)?;
        let BooleanExpression::Comparison(Comparison::Relation(left, _, right)) = expression.condition() else {
            return None;
        };
        let own_level = if left.is_constant() { left } else { right };
        let is_upward = found.relation.is_upward();
        let level = match rearm {
            Rearm::At(level) => constant(level)?,
            Rearm::Percent(percent) => {
                let size = if found.level < Fraction::ZERO {
                    NumericExpression::Negated(Box::new(own_level.clone()))
                } else {
                    own_level.clone()
                };
                let hundred = constant(Decimal::from_micros(100 * market::MICROS_PER_UNIT))?;
                let share = arithmetic(constant(percent)?, ArithmeticOperator::Divide, hundred);
                let distance = arithmetic(size, ArithmeticOperator::Multiply, share);
                let operator = if is_upward {
                    ArithmeticOperator::Subtract
                } else {
                    ArithmeticOperator::Add
                };
                arithmetic(own_level.clone(), operator, distance)
            }
        };
        Some(Self {
            metric: NumericExpression::Metric(found.metric),
            level,
            is_upward,
        })
    }

    /// Returns whether the metric has returned to the level; at the level counts.
    pub(super) fn is_reached(&self, values: &impl MetricValues) -> bool {
        let beyond = if self.is_upward {
            Ordering::Less
        } else {
            Ordering::Greater
        };
        let order = compare_numbers(&self.metric, &self.level, values);
        order.is_some_and(|order| order == beyond || order == Ordering::Equal)
    }
}

fn constant(number: Decimal) -> Option<NumericExpression> {
    if let Some(constant) = Constant::new(number) {
        return Some(NumericExpression::Constant(constant));
    }
    let size = Constant::new(Decimal::from_micros(number.micros().checked_neg()?))?;
    Some(NumericExpression::Negated(Box::new(NumericExpression::Constant(size))))
}

fn arithmetic(left: NumericExpression, operator: ArithmeticOperator, right: NumericExpression) -> NumericExpression {
    NumericExpression::Arithmetic(Box::new(left), operator, Box::new(right))
}
