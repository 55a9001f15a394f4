//! Metrics that are read, but that no new alert can have. Stored alerts keep theirs.

use std::cmp::Ordering;

use super::cursor::Parser;
use crate::expression::ast::{MetricReference, NumericExpression};
use crate::expression::error::ExpressionError;
use crate::expression::metric::{ChangeBase, DEFAULT_MACD, MacdPeriods, Metric, MetricSignature};

impl Parser<'_> {
    /// Notes the error of a metric at a position, unless an earlier metric has one, and returns the metric.
    pub(super) fn noted(&mut self, reference: MetricReference, position: usize) -> MetricReference {
        if self.unsuitable.is_none()
            && let Some((reason, suitable)) = correction(reference)
        {
            let [part, suitable] =
                [reference, suitable].map(|reference| NumericExpression::Metric(reference).to_string());
            let fix = format!("{reason}; write {suitable}");
            let error = ExpressionError::unsuitable(&part, fix, position).expecting([suitable.as_str()]);
            self.unsuitable = Some(error);
        }
        reference
    }
}

/// Returns why no new alert can have a metric, and the one to write in its place; `None` if it can.
fn correction(MetricReference { symbol, metric }: MetricReference) -> Option<(&'static str, MetricReference)> {
    let of_own_stock = "it is known of the alert's own stock only";
    match metric {
        Metric::HighSinceArmed | Metric::LowSinceArmed if symbol.is_some() => {
            Some((of_own_stock, MetricReference { symbol: None, metric }))
        }
        Metric::ChangePct(ChangeBase::Creation) if symbol.is_some() => {
            let metric = Metric::ChangePct(ChangeBase::PrevClose);
            Some((of_own_stock, MetricReference { symbol, metric }))
        }
        Metric::Macd(periods) | Metric::MacdSignal(periods) => {
            let MetricSignature::Macd(build) = metric.spec().signature else {
                return None;
            };
            let metric = build(corrected(periods)?);
            Some(("fast must be less than slow", MetricReference { symbol, metric }))
        }
        _ => None,
    }
}

/// Returns the periods of a MACD with the faster average first, the default ones if both are the same; `None` if they are right.
fn corrected(periods: MacdPeriods) -> Option<MacdPeriods> {
    let MacdPeriods { fast, slow, signal } = periods;
    match fast.cmp(&slow) {
        Ordering::Less => None,
        Ordering::Equal => Some(DEFAULT_MACD),
        Ordering::Greater => Some(MacdPeriods {
            fast: slow,
            slow: fast,
            signal,
        }),
    }
}
