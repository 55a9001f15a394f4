//! Values of metrics in the shares of an earlier day.

use crate::expression::metric::{Metric, MetricUnit};
use crate::expression::{Fraction, MetricValue};

/// Returns the value of a metric in earlier shares.
pub(super) fn in_earlier_shares(value: MetricValue, metric: Metric, shares: &Fraction) -> Option<MetricValue> {
    match (metric.spec().unit, value) {
        (MetricUnit::UsdPerShare, MetricValue::Exact(value)) => Some(MetricValue::Exact(value.multiply(shares))),
        (MetricUnit::UsdPerShare, MetricValue::Approximate(value)) => {
            Some(MetricValue::Approximate(value * shares.as_f64()))
        }
        (MetricUnit::Shares, MetricValue::Exact(value)) => value.divide(shares).map(MetricValue::Exact),
        (MetricUnit::Shares, MetricValue::Approximate(value)) => {
            Some(MetricValue::Approximate(value / shares.as_f64()))
        }
        (_, value) => Some(value),
    }
}
