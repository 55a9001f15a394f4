//! Constant levels: of a metric, and of the price.

use std::collections::BTreeSet;

use market::{Price, Symbol};

use crate::expression::ast::{
    ArithmeticOperator, BooleanExpression, Comparison, MetricReference, NumericExpression, Relation,
};
use crate::expression::evaluate::{MetricValues, number_value};
use crate::expression::fraction::Fraction;
use crate::expression::metric::Metric;
use crate::expression::model::Expression;
use crate::expression::value::MetricValue;

/// A metric against a number: `metric relation level`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MetricLevel {
    /// The metric.
    pub metric: MetricReference,
    /// The relation, with the metric on its left.
    pub relation: Relation,
    /// The number.
    pub level: Fraction,
}

/// The prices of one stock at which the truth of an expression can change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PriceLevels {
    /// The stock; `None` is the alert's own.
    pub symbol: Option<Symbol>,
    /// Prices in millionths. Between two consecutive ones, the lower included, every comparison has the same truth.
    pub first_prices: BTreeSet<i64>,
}

/// Values for numbers without metrics.
struct NoValues;

impl MetricValues for NoValues {
    fn value(&self, _: MetricReference) -> Option<MetricValue> {
        None
    }

    fn is_observed(&self, _: Option<Symbol>) -> bool {
        false
    }
}

/// Returns the value of a number without metrics; `None` if it has one, or divides by zero.
pub(super) fn constant(number: &NumericExpression) -> Option<Fraction> {
    match number_value(number, &NoValues)? {
        MetricValue::Exact(fraction) => Some(fraction),
        MetricValue::Approximate(_) => None,
    }
}

/// Returns the level, if the expression is one metric against a number.
#[must_use]
pub fn metric_level(expression: &Expression) -> Option<MetricLevel> {
    let BooleanExpression::Comparison(Comparison::Relation(left, relation, right)) = expression.condition() else {
        return None;
    };
    let (metric, relation, level) = match (left, right) {
        (NumericExpression::Metric(metric), number) => (metric, *relation, number),
        (number, NumericExpression::Metric(metric)) => (metric, relation.mirrored(), number),
        _ => return None,
    };
    Some(MetricLevel {
        metric: *metric,
        relation,
        level: constant(level)?,
    })
}

/// Returns the price levels, if every comparison is linear in the price of one stock and has no other metric.
#[must_use]
pub fn price_levels(expression: &Expression) -> Option<PriceLevels> {
    let metrics = super::metrics(expression);
    let [
        MetricReference {
            symbol,
            metric: Metric::Price,
        },
    ] = metrics[..]
    else {
        return None;
    };
    let mut first_prices = BTreeSet::new();
    let mut all_linear = true;
    expression.condition().for_each_comparison(&mut |comparison| {
        all_linear &= add_levels(comparison, &mut first_prices).is_some();
    });
    all_linear.then_some(PriceLevels { symbol, first_prices })
}

/// Returns the constant prices that the price of the alert's own stock is compared with, in the order of the text.
#[must_use]
pub fn compared_prices(expression: &Expression) -> Vec<Price> {
    let mut prices = Vec::new();
    expression.condition().for_each_comparison(&mut |comparison| {
        let pairs = match comparison {
            Comparison::Relation(left, _, right) | Comparison::Crosses(left, _, right) => vec![(left, right)],
            Comparison::Between { value, low, high } => vec![(value, low), (value, high)],
        };
        prices.extend(
            pairs
                .into_iter()
                .filter_map(|(left, right)| compared_price(left, right)),
        );
    });
    prices
}

fn compared_price(left: &NumericExpression, right: &NumericExpression) -> Option<Price> {
    const OWN_PRICE: NumericExpression = NumericExpression::Metric(MetricReference {
        symbol: None,
        metric: Metric::Price,
    });
    let number = match (left == &OWN_PRICE, right == &OWN_PRICE) {
        (true, _) => right,
        (_, true) => left,
        (false, false) => return None,
    };
    Price::try_from(constant(number)?.floor_to_micros()?).ok()
}

fn add_levels(comparison: &Comparison, first_prices: &mut BTreeSet<i64>) -> Option<()> {
    match comparison {
        Comparison::Relation(left, relation, right) => {
            first_prices.extend(first_price(left, *relation, right)?);
        }
        Comparison::Between { value, low, high } => {
            first_prices.extend(first_price(value, Relation::AtLeast, low)?);
            first_prices.extend(first_price(value, Relation::AtMost, high)?);
        }
        // A crossing depends on whether the price is below, at or above the level.
        Comparison::Crosses(left, _, right) => {
            first_prices.extend(first_price(left, Relation::Below, right)?);
            first_prices.extend(first_price(left, Relation::AtMost, right)?);
        }
    }
    Some(())
}

/// Returns the lowest price in millionths beyond which the relation has the other truth. The outer `None` means that a side is
/// not linear; the inner one that the truth does not depend on the price, or that the level is beyond all prices.
fn first_price(left: &NumericExpression, relation: Relation, right: &NumericExpression) -> Option<Option<i64>> {
    let difference = linear(left)?.subtract(&linear(right)?);
    let zero = Fraction::ZERO;
    let Some(root) = difference.offset.negate().divide(&difference.slope) else {
        return Some(None);
    };
    let is_rising = difference.slope > zero;
    // At the root both sides are equal, so the truth there is that of an inclusive relation.
    let holds_at_root = matches!(relation, Relation::AtMost | Relation::AtLeast);
    let holds_above = relation.is_upward() == is_rising;
    let Some(floor) = root.floor_to_micros() else {
        return Some(None);
    };
    let is_exact = Fraction::from(floor) == root;
    let root_belongs_above = holds_at_root == holds_above;
    let first = if is_exact && root_belongs_above {
        Some(floor.micros())
    } else {
        floor.micros().checked_add(1)
    };
    Some(first)
}

/// `slope × price + offset`.
struct Linear {
    slope: Fraction,
    offset: Fraction,
}

impl Linear {
    fn subtract(&self, other: &Self) -> Self {
        Self {
            slope: self.slope.subtract(&other.slope),
            offset: self.offset.subtract(&other.offset),
        }
    }

    fn times(&self, factor: &Fraction) -> Self {
        Self {
            slope: self.slope.multiply(factor),
            offset: self.offset.multiply(factor),
        }
    }
}

/// Returns the number as a linear function of the price; `None` if it is none.
fn linear(number: &NumericExpression) -> Option<Linear> {
    if let Some(offset) = constant(number) {
        return Some(Linear {
            slope: Fraction::ZERO,
            offset,
        });
    }
    match number {
        NumericExpression::Constant(_) => None,
        NumericExpression::Metric(_) => Some(Linear {
            slope: Fraction::from_whole(1),
            offset: Fraction::ZERO,
        }),
        NumericExpression::Negated(inner) => Some(linear(inner)?.times(&Fraction::from_whole(-1))),
        NumericExpression::Arithmetic(left, operator, right) => match operator {
            ArithmeticOperator::Add => {
                let negated = linear(right)?.times(&Fraction::from_whole(-1));
                Some(linear(left)?.subtract(&negated))
            }
            ArithmeticOperator::Subtract => Some(linear(left)?.subtract(&linear(right)?)),
            ArithmeticOperator::Multiply => match (constant(left), constant(right)) {
                (Some(factor), _) => Some(linear(right)?.times(&factor)),
                (_, Some(factor)) => Some(linear(left)?.times(&factor)),
                _ => None,
            },
            ArithmeticOperator::Divide => {
                let divisor = constant(right)?;
                Some(linear(left)?.times(&Fraction::from_whole(1).divide(&divisor)?))
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compared_prices_are_those_of_the_own_stock_against_constants() {
        let prices = |text: &str| {
            let expression: Expression = text.parse().unwrap();
            let prices = compared_prices(&expression);
            prices.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(prices("price < 180 and rsi(14) < 30"), ["180"]);
        assert_eq!(
            prices("200 <= price or price between 90 and 100.5"),
            ["200", "90", "100.5"]
        );
        assert_eq!(prices("price crosses above 2 * 60"), ["120"]);
        assert!(prices("price > sma(200) and SPY.price > 500 and high(20) > 7").is_empty());
    }
}
