//! The values of metrics and the arithmetic on them.

use std::cmp::Ordering;

use super::ast::ArithmeticOperator;
use super::fraction::Fraction;

/// The relative difference up to which two sides count as equal if one of them is approximate.
pub const RELATIVE_TOLERANCE: f64 = 1e-9;

/// The value of a metric, or of a number computed from metrics.
#[derive(Clone, PartialEq, Debug)]
pub enum MetricValue {
    /// An exact number.
    Exact(Fraction),
    /// A float, because an indicator that needs a root or an exponential average is in it.
    Approximate(f64),
}

impl MetricValue {
    /// Returns the nearest float.
    #[must_use]
    pub fn as_f64(&self) -> f64 {
        match self {
            Self::Exact(fraction) => fraction.as_f64(),
            Self::Approximate(number) => *number,
        }
    }

    /// Returns the value, or `None` if it is an infinite float or not a number.
    pub(super) fn checked(self) -> Option<Self> {
        match self {
            Self::Approximate(number) if !number.is_finite() => None,
            value => Some(value),
        }
    }

    /// Returns the value with the other sign.
    #[must_use]
    pub fn negate(&self) -> Self {
        match self {
            Self::Exact(fraction) => Self::Exact(fraction.negate()),
            Self::Approximate(number) => Self::Approximate(-number),
        }
    }

    /// Computes exactly if both values are exact. Returns `None` for a division by zero and beyond the range of floats.
    #[must_use]
    pub fn compute(&self, operator: ArithmeticOperator, other: &Self) -> Option<Self> {
        use ArithmeticOperator as Operator;
        if let (Self::Exact(left), Self::Exact(right)) = (self, other) {
            return Some(Self::Exact(match operator {
                Operator::Add => left.add(right),
                Operator::Subtract => left.subtract(right),
                Operator::Multiply => left.multiply(right),
                Operator::Divide => left.divide(right)?,
            }));
        }
        let (left, right) = (self.as_f64(), other.as_f64());
        let result = match operator {
            Operator::Add => left + right,
            Operator::Subtract => left - right,
            Operator::Multiply => left * right,
            // Floats divide by zero to infinity, which is no value.
            Operator::Divide => left / right,
        };
        Self::Approximate(result).checked()
    }

    /// Compares two values: exactly if both are exact; otherwise two values within [`RELATIVE_TOLERANCE`] are equal. Returns
    /// `None` if an exact value is beyond the range of floats.
    #[must_use]
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        if let (Self::Exact(left), Self::Exact(right)) = (self, other) {
            return Some(left.cmp(right));
        }
        let (left, right) = (self.as_f64(), other.as_f64());
        if (left - right).abs() <= RELATIVE_TOLERANCE * left.abs().max(right.abs()) && left.is_finite() {
            return Some(Ordering::Equal);
        }
        left.partial_cmp(&right)
    }
}
