//! The truth of an expression at one judgement: `None` is unknown.

use std::cmp::Ordering;

use alerts::expression::Within;
use alerts::expression::ast::{
    ArithmeticOperator, BooleanExpression, Comparison, CrossingDirection, MetricReference, NumericExpression, Relation,
};
use alerts::expression::metric::Metric;
use jiff::Timestamp;
use market::Calendar;

use super::number::Number;
use super::past::is_of_fact;

/// The state of one `crosses`.
#[derive(Clone, Copy, Default)]
pub(super) struct Crossing {
    /// The order of the sides at the previous observation of their stocks.
    order: Option<Ordering>,
    /// The end of the time for which the last crossing counts.
    pub(super) until: Option<Timestamp>,
}

/// The inputs of a judgement.
pub(super) struct Inputs<'a> {
    pub(super) value: &'a dyn Fn(MetricReference) -> Option<Number>,
    /// The observed stocks.
    pub(super) observed: &'a [usize],
    pub(super) now: Timestamp,
    pub(super) within: Option<Within>,
}

/// The truth at an observation, and after its crossings.
pub(super) type Truths = [Option<bool>; 2];

pub(super) fn number(expression: &NumericExpression, inputs: &Inputs<'_>) -> Option<Number> {
    match expression {
        NumericExpression::Constant(constant) => Some(Number::micros(constant.get().micros())),
        NumericExpression::Metric(metric) => (inputs.value)(*metric),
        NumericExpression::Negated(inner) => Some(number(inner, inputs)?.negated()),
        NumericExpression::Arithmetic(left, operator, right) => {
            let (left, right) = (number(left, inputs)?, number(right, inputs)?);
            match operator {
                ArithmeticOperator::Add => Some(left.plus(right)),
                ArithmeticOperator::Subtract => Some(left.plus(right.negated())),
                ArithmeticOperator::Multiply => Some(left.times(right)),
                ArithmeticOperator::Divide => left.divided_by(right),
            }
        }
    }
}

fn order(left: &NumericExpression, right: &NumericExpression, inputs: &Inputs<'_>) -> Option<Ordering> {
    Some(number(left, inputs)?.order(number(right, inputs)?))
}

fn holds(left: &NumericExpression, relation: Relation, right: &NumericExpression, inputs: &Inputs<'_>) -> Option<bool> {
    let order = order(left, right, inputs)?;
    Some(match relation {
        Relation::Below => order == Ordering::Less,
        Relation::AtMost => order != Ordering::Greater,
        Relation::Above => order == Ordering::Greater,
        Relation::AtLeast => order != Ordering::Less,
    })
}

/// Returns whether a condition and another hold.
fn both(one: Option<bool>, other: Option<bool>) -> Option<bool> {
    match (one, other) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

fn not(truth: Option<bool>) -> Option<bool> {
    truth.map(|truth| !truth)
}

/// Evaluates an expression. The crossings are those of the `crosses` that follow, in the order of the text.
pub(super) fn truths(
    condition: &BooleanExpression,
    inputs: &Inputs<'_>,
    crossings: &mut std::slice::IterMut<'_, Crossing>,
) -> Truths {
    match condition {
        BooleanExpression::Comparison(comparison) => match comparison {
            Comparison::Relation(left, relation, right) => [holds(left, *relation, right, inputs); 2],
            Comparison::Between { value, low, high } => {
                let above = holds(value, Relation::AtLeast, low, inputs);
                [both(above, holds(value, Relation::AtMost, high, inputs)); 2]
            }
            Comparison::Crosses(left, direction, right) => {
                crosses(left, *direction, right, inputs, crossings.next().unwrap())
            }
        },
        BooleanExpression::Not(inner) => truths(inner, inputs, crossings).map(not),
        BooleanExpression::And(left, right) => {
            let (left, right) = (truths(left, inputs, crossings), truths(right, inputs, crossings));
            [both(left[0], right[0]), both(left[1], right[1])]
        }
        BooleanExpression::Or(left, right) => {
            let left = truths(left, inputs, crossings).map(not);
            let right = truths(right, inputs, crossings).map(not);
            [both(left[0], right[0]), both(left[1], right[1])].map(not)
        }
    }
}

/// Judges a `crosses`: at an observation of the stock of one of its operands, and always if an operand is a fact, which is observed
/// at the first judgement after its change.
fn crosses(
    left: &NumericExpression,
    direction: CrossingDirection,
    right: &NumericExpression,
    inputs: &Inputs<'_>,
    crossing: &mut Crossing,
) -> Truths {
    let mut is_observed = false;
    for side in [left, right] {
        side.for_each_metric(&mut |metric| {
            let stock = usize::from(metric.symbol.is_some());
            is_observed |= inputs.observed.contains(&stock) || is_of_fact(metric.metric);
        });
    }
    let mut crossed = Some(false);
    if is_observed {
        let after = order(left, right, inputs);
        let before = std::mem::replace(&mut crossing.order, after);
        crossed = before.zip(after).map(|(before, after)| {
            let above = before == Ordering::Less && after != Ordering::Less;
            let below = before == Ordering::Greater && after != Ordering::Greater;
            match direction {
                CrossingDirection::Above => above,
                CrossingDirection::Below => below,
                CrossingDirection::Either => above || below,
            }
        });
    }
    if crossed == Some(true) {
        let close = Calendar::nyse().session_at(inputs.now).map(|session| session.close);
        crossing.until = match inputs.within {
            Some(Within::Duration(duration)) => Some(inputs.now + duration),
            Some(Within::Session) => Some(close.unwrap_or(inputs.now)),
            None => None,
        };
    }
    if crossing.until.is_some_and(|until| inputs.now <= until) {
        return [Some(true); 2];
    }
    [crossed, Some(false)]
}

/// Returns the crossings of a rule when it is armed, with the orders at the observation before.
pub(super) fn crossings(condition: &BooleanExpression, inputs: &Inputs<'_>) -> Vec<Crossing> {
    let mut crossings = Vec::new();
    condition.for_each_comparison(&mut |comparison| {
        if let Comparison::Crosses(left, _, right) = comparison {
            crossings.push(Crossing {
                order: order(left, right, inputs),
                until: None,
            });
        }
    });
    crossings
}

/// Compares the sides of the crossings that use extremes since arming once more, after these have begun anew.
pub(super) fn begin_extremes(condition: &BooleanExpression, inputs: &Inputs<'_>, crossings: &mut [Crossing]) {
    let mut crossings = crossings.iter_mut();
    condition.for_each_comparison(&mut |comparison| {
        let Comparison::Crosses(left, _, right) = comparison else {
            return;
        };
        let crossing = crossings.next().unwrap();
        for side in [left, right] {
            side.for_each_metric(&mut |metric| {
                if matches!(metric.metric, Metric::HighSinceArmed | Metric::LowSinceArmed) {
                    crossing.order = order(left, right, inputs);
                }
            });
        }
    });
}
