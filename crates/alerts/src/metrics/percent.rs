//! Exact fractions of prices.

use market::MICROS_PER_UNIT;

use crate::expression::{Fraction, MetricValue};

/// Returns `(value − base) ÷ base × 100`; `None` if the base is 0.
pub(super) fn percent_change(value: i64, base: i64) -> Option<MetricValue> {
    ratio((i128::from(value) - i128::from(base)) * 100, base.into())
}

/// Returns `numerator ÷ denominator`; `None` if the denominator is 0.
pub(super) fn ratio(numerator: i128, denominator: i128) -> Option<MetricValue> {
    Fraction::new(numerator, denominator).map(MetricValue::Exact)
}

/// Returns a sum of millionths divided by their number.
pub(super) fn mean_of_micros(sum: i64, number: i64) -> Option<MetricValue> {
    ratio(sum.into(), i128::from(number) * i128::from(MICROS_PER_UNIT))
}
