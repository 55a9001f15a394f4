//! Whether an expression can be true at all.
//!
//! Each metric has bounds by its definition: a price is positive, an RSI is from 0 to 100. An expression is a choice between
//! conjunctions of comparisons. It can never be true if each conjunction has a comparison that cannot hold within these bounds, or
//! of a metric without a value, or two comparisons of one metric that exclude each other. The check is not complete: an expression
//! for which no reason is found may still never be true.

use super::bounds::{Bounds, BoundsEnd};
use crate::expression::Expression;
use crate::expression::ast::{
    ArithmeticOperator, BooleanExpression, Comparison, CrossingDirection, MetricReference, NumericExpression, Relation,
};

/// The maximum number of conjunctions that are checked. An expression with more of them counts as possible.
const MAX_CONJUNCTIONS: usize = 256;

/// A comparison, and the truth that a conjunction needs.
#[derive(Clone, Copy)]
struct Literal<'a> {
    comparison: &'a Comparison,
    truth: bool,
}

/// One end of a range that a comparison demands of a metric.
#[derive(Clone)]
struct Demand<'a> {
    metric: MetricReference,
    relation: Relation,
    bounds: Bounds,
    literal: Literal<'a>,
}

/// Returns why an expression can never be true, one reason for each way to truth, each once; empty if it may be true. `has_value`
/// says whether a metric has a value on the data there is.
#[must_use]
pub fn never_true(expression: &Expression, has_value: impl Fn(MetricReference) -> bool) -> Vec<String> {
    let mut reasons = Vec::new();
    for conjunction in conjunctions(expression.condition(), true).unwrap_or_default() {
        let alone = conjunction.iter().find_map(|literal| literal.reason(&has_value));
        match alone.or_else(|| contradiction(&conjunction)) {
            Some(reason) if reasons.contains(&reason) => {}
            Some(reason) => reasons.push(reason),
            None => return Vec::new(),
        }
    }
    reasons
}

/// Returns whether a number divides by the constant 0.
fn divides_by_zero(number: &NumericExpression) -> bool {
    match number {
        NumericExpression::Constant(_) | NumericExpression::Metric(_) => false,
        NumericExpression::Negated(inner) => divides_by_zero(inner),
        NumericExpression::Arithmetic(left, operator, right) => {
            let is_zero = *operator == ArithmeticOperator::Divide && Bounds::of(right).is_zero();
            is_zero || divides_by_zero(left) || divides_by_zero(right)
        }
    }
}

/// Returns the conjunctions of which one must hold for a condition to have a truth; `None` if they are too many.
fn conjunctions(condition: &BooleanExpression, truth: bool) -> Option<Vec<Vec<Literal<'_>>>> {
    match condition {
        BooleanExpression::Comparison(comparison) => Some(vec![vec![Literal { comparison, truth }]]),
        BooleanExpression::Not(inner) => conjunctions(inner, !truth),
        BooleanExpression::And(left, right) | BooleanExpression::Or(left, right) => {
            let (mut left, right) = (conjunctions(left, truth)?, conjunctions(right, truth)?);
            if matches!(condition, BooleanExpression::And(..)) == truth {
                let count = left.len() * right.len();
                let product = left
                    .iter()
                    .flat_map(|one| right.iter().map(move |other| [one.as_slice(), other].concat()));
                (count <= MAX_CONJUNCTIONS).then(|| product.collect())
            } else {
                left.extend(right);
                (left.len() <= MAX_CONJUNCTIONS).then_some(left)
            }
        }
    }
}

impl<'a> Literal<'a> {
    /// Returns why the comparison alone cannot have its truth.
    fn reason(self, has_value: &impl Fn(MetricReference) -> bool) -> Option<String> {
        let mut missing = None;
        for number in self.comparison.operands() {
            number.for_each_metric(&mut |metric| {
                if missing.is_none() && !has_value(metric) {
                    missing = Some(metric);
                }
            });
        }
        if let Some(metric) = missing {
            let metric = NumericExpression::Metric(metric);
            return Some(format!("{self} is unknown, because {metric} has no value"));
        }
        if self.comparison.operands().into_iter().any(divides_by_zero) {
            return Some(format!("{self} is unknown, because a division by 0 has no value"));
        }
        if self.compares_equal_sides() {
            return Some(format!("{self} is impossible: both sides are equal"));
        }
        if self.is_possible() {
            return None;
        }
        let ranges: Vec<String> = self.ranges();
        Some(format!("{self} is impossible: {}", ranges.join(", ")))
    }

    /// Returns whether the comparison needs two different numbers, but has the same one twice.
    fn compares_equal_sides(self) -> bool {
        let is_strict = |relation: Relation| matches!(relation, Relation::Above | Relation::Below);
        match (self.comparison, self.truth) {
            (Comparison::Crosses(left, _, right), true) => left == right,
            _ => self
                .relations()
                .into_iter()
                .any(|(left, relation, right)| is_strict(relation) && left == right),
        }
    }

    fn is_possible(self) -> bool {
        let bounds = Bounds::of;
        match (self.comparison, self.truth) {
            (Comparison::Crosses(left, direction, right), true) => {
                let (left, right) = (bounds(left), bounds(right));
                let upward = left.can_be(Relation::Below, &right) && left.can_be(Relation::AtLeast, &right);
                let downward = left.can_be(Relation::Above, &right) && left.can_be(Relation::AtMost, &right);
                match direction {
                    CrossingDirection::Above => upward,
                    CrossingDirection::Below => downward,
                    CrossingDirection::Either => upward || downward,
                }
            }
            (Comparison::Crosses(..), false) => true,
            (Comparison::Between { value, low, high }, false) => {
                let (value, low, high) = (bounds(value), bounds(low), bounds(high));
                value.can_be(Relation::Below, &low) || value.can_be(Relation::Above, &high)
            }
            _ => self
                .relations()
                .into_iter()
                .all(|(left, relation, right)| bounds(left).can_be(relation, &bounds(right))),
        }
    }

    /// Returns the relations that must all hold; none for a `crosses` and for a `between` that must be false.
    fn relations(self) -> Vec<(&'a NumericExpression, Relation, &'a NumericExpression)> {
        match (self.comparison, self.truth) {
            (Comparison::Relation(left, relation, right), true) => vec![(left, *relation, right)],
            (Comparison::Relation(left, relation, right), false) => vec![(left, relation.negated(), right)],
            (Comparison::Between { value, low, high }, true) => {
                vec![(value, Relation::AtLeast, low), (value, Relation::AtMost, high)]
            }
            (Comparison::Between { .. }, false) | (Comparison::Crosses(..), _) => Vec::new(),
        }
    }

    /// Returns the bounds of its numbers that are not constants as text.
    fn ranges(self) -> Vec<String> {
        let is_constant = |number: &NumericExpression| matches!(number, NumericExpression::Constant(_));
        let mut ranges = Vec::new();
        for number in self.comparison.operands() {
            let range = format!("{number} is {}", Bounds::of(number).text(self.missed_end(number)));
            if !is_constant(number) && !ranges.contains(&range) {
                ranges.push(range);
            }
        }
        ranges
    }

    /// Returns the end of a number's bounds that a comparison is beyond; `None` if both ends may matter.
    fn missed_end(self, number: &NumericExpression) -> Option<BoundsEnd> {
        let relations = self.relations();
        let [(left, relation, right)] = relations.as_slice() else {
            return None;
        };
        let is_upward = match (*left == number, *right == number) {
            (true, false) => relation.is_upward(),
            (false, true) => !relation.is_upward(),
            _ => return None,
        };
        Some(if is_upward { BoundsEnd::Max } else { BoundsEnd::Min })
    }

    /// Returns what the comparison demands of single metrics.
    fn demands(self) -> Vec<Demand<'a>> {
        let mut demands = Vec::new();
        for (left, relation, right) in self.relations() {
            let mut add = |number: &NumericExpression, relation, other| {
                if let NumericExpression::Metric(metric) = number {
                    demands.push(Demand {
                        metric: *metric,
                        relation,
                        bounds: Bounds::beside(metric.metric, other),
                        literal: self,
                    });
                }
            };
            add(left, relation, right);
            add(right, relation.mirrored(), left);
        }
        demands
    }
}

impl std::fmt::Display for Literal<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.truth {
            f.write_str("not ")?;
        }
        write!(f, "{}", self.comparison)
    }
}

/// Returns two comparisons of a conjunction that exclude each other.
fn contradiction(conjunction: &[Literal<'_>]) -> Option<String> {
    let demands: Vec<Demand<'_>> = conjunction.iter().flat_map(|literal| literal.demands()).collect();
    for (place, one) in demands.iter().enumerate() {
        for other in &demands[place + 1..] {
            let (lower, upper) = match (one.relation.is_upward(), other.relation.is_upward()) {
                (true, false) => (one, other),
                (false, true) => (other, one),
                _ => continue,
            };
            if one.metric == other.metric
                && !lower
                    .bounds
                    .leaves_room_below(&upper.bounds, lower.relation, upper.relation)
            {
                let both = [one.literal.to_string(), other.literal.to_string()];
                return Some(match both {
                    [one, other] if one == other => format!("{one} is impossible"),
                    [one, other] => format!("{one} and {other} exclude each other"),
                });
            }
        }
    }
    None
}

#[cfg(test)]
mod tests;
