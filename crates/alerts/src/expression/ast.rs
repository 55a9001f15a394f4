//! The syntax tree: conditions, comparisons and numbers are different types.

use market::{Decimal, Symbol};

use super::metric::Metric;

/// A condition: comparisons, combined with `and`, `or` and `not`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum BooleanExpression {
    /// A comparison.
    Comparison(Comparison),
    /// `not a`.
    Not(Box<Self>),
    /// `a and b`.
    And(Box<Self>, Box<Self>),
    /// `a or b`.
    Or(Box<Self>, Box<Self>),
}

/// A comparison of numbers.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Comparison {
    /// `a < b` and its siblings.
    Relation(NumericExpression, Relation, NumericExpression),
    /// `value between low and high`: at least `low` and at most `high`.
    Between {
        /// The compared number.
        value: NumericExpression,
        /// The minimum.
        low: NumericExpression,
        /// The maximum.
        high: NumericExpression,
    },
    /// `a crosses above b` and its siblings.
    Crosses(NumericExpression, CrossingDirection, NumericExpression),
}

/// A relation of two numbers. There is no equality.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Relation {
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `>`
    Above,
    /// `>=`
    AtLeast,
}

/// The direction in which a number crosses another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum CrossingDirection {
    /// From below.
    Above,
    /// From above.
    Below,
    /// In any direction.
    Either,
}

/// A number: metrics and constants, combined with arithmetic.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum NumericExpression {
    /// A constant.
    Constant(Constant),
    /// A metric of a stock.
    Metric(MetricReference),
    /// `-a`.
    Negated(Box<Self>),
    /// `a + b` and its siblings.
    Arithmetic(Box<Self>, ArithmeticOperator, Box<Self>),
}

/// An arithmetic operator.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ArithmeticOperator {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
}

/// A constant in an expression: zero or more, because a minus is an operator.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Constant(Decimal);

/// A metric of a stock.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MetricReference {
    /// The stock; `None` is the stock of the alert.
    pub symbol: Option<Symbol>,
    /// The metric.
    pub metric: Metric,
}

impl Constant {
    /// Returns the constant, or `None` below zero.
    #[must_use]
    pub fn new(number: Decimal) -> Option<Self> {
        (number >= Decimal::ZERO).then_some(Self(number))
    }

    /// Returns the number.
    #[must_use]
    pub const fn get(self) -> Decimal {
        self.0
    }
}

impl Relation {
    /// All relations.
    pub const ALL: [Self; 4] = [Self::Below, Self::AtMost, Self::Above, Self::AtLeast];

    /// Returns the relation with its operands exchanged: `a < b` is `b > a`.
    #[must_use]
    pub const fn mirrored(self) -> Self {
        match self {
            Self::Below => Self::Above,
            Self::AtMost => Self::AtLeast,
            Self::Above => Self::Below,
            Self::AtLeast => Self::AtMost,
        }
    }

    /// Returns the relation that holds if this one does not: `not a < b` is `a >= b`.
    #[must_use]
    pub const fn negated(self) -> Self {
        match self {
            Self::Below => Self::AtLeast,
            Self::AtMost => Self::Above,
            Self::Above => Self::AtMost,
            Self::AtLeast => Self::Below,
        }
    }

    /// Returns whether the left number is the larger one.
    #[must_use]
    pub const fn is_upward(self) -> bool {
        matches!(self, Self::Above | Self::AtLeast)
    }

    /// Returns the operator.
    #[must_use]
    pub const fn operator(self) -> &'static str {
        match self {
            Self::Below => "<",
            Self::AtMost => "<=",
            Self::Above => ">",
            Self::AtLeast => ">=",
        }
    }
}

impl CrossingDirection {
    /// All directions.
    pub const ALL: [Self; 3] = [Self::Above, Self::Below, Self::Either];
}

impl ArithmeticOperator {
    /// All operators.
    pub const ALL: [Self; 4] = [Self::Add, Self::Subtract, Self::Multiply, Self::Divide];

    /// Returns the operator.
    #[must_use]
    pub const fn operator(self) -> char {
        match self {
            Self::Add => '+',
            Self::Subtract => '-',
            Self::Multiply => '*',
            Self::Divide => '/',
        }
    }

    /// Returns whether the operator binds tighter than `+`.
    #[must_use]
    pub const fn is_product(self) -> bool {
        matches!(self, Self::Multiply | Self::Divide)
    }
}

impl Comparison {
    /// Returns the compared numbers, in the order of the text.
    #[must_use]
    pub fn operands(&self) -> Vec<&NumericExpression> {
        match self {
            Self::Relation(left, _, right) | Self::Crosses(left, _, right) => vec![left, right],
            Self::Between { value, low, high } => vec![value, low, high],
        }
    }

    /// Returns the comparison with other numbers; `None` if one of them has no replacement.
    pub(super) fn try_map(
        &self,
        replacement: &impl Fn(&NumericExpression) -> Option<NumericExpression>,
    ) -> Option<Self> {
        Some(match self {
            Self::Relation(left, relation, right) => Self::Relation(replacement(left)?, *relation, replacement(right)?),
            Self::Crosses(left, direction, right) => Self::Crosses(replacement(left)?, *direction, replacement(right)?),
            Self::Between { value, low, high } => Self::Between {
                value: replacement(value)?,
                low: replacement(low)?,
                high: replacement(high)?,
            },
        })
    }
}

impl NumericExpression {
    /// Calls `visit` for every metric, in the order of the text.
    pub fn for_each_metric(&self, visit: &mut impl FnMut(MetricReference)) {
        match self {
            Self::Constant(_) => {}
            Self::Metric(metric) => visit(*metric),
            Self::Negated(inner) => inner.for_each_metric(visit),
            Self::Arithmetic(left, _, right) => {
                left.for_each_metric(visit);
                right.for_each_metric(visit);
            }
        }
    }

    /// Returns whether it contains no metric.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        match self {
            Self::Constant(_) => true,
            Self::Metric(_) => false,
            Self::Negated(inner) => inner.is_constant(),
            Self::Arithmetic(left, _, right) => left.is_constant() && right.is_constant(),
        }
    }
}

impl BooleanExpression {
    /// Calls `visit` for every comparison, in the order of the text.
    pub fn for_each_comparison<'a>(&'a self, visit: &mut impl FnMut(&'a Comparison)) {
        match self {
            Self::Comparison(comparison) => visit(comparison),
            Self::Not(inner) => inner.for_each_comparison(visit),
            Self::And(left, right) | Self::Or(left, right) => {
                left.for_each_comparison(visit);
                right.for_each_comparison(visit);
            }
        }
    }

    /// Calls `visit` for every metric, in the order of the text.
    pub fn for_each_metric(&self, visit: &mut impl FnMut(MetricReference)) {
        self.for_each_comparison(&mut |comparison| {
            for operand in comparison.operands() {
                operand.for_each_metric(visit);
            }
        });
    }
}
