//! Metrics that are read, but that no new alert can have. Stored alerts keep theirs.

use super::cursor::Parser;
use crate::expression::ast::{MetricReference, NumericExpression};
use crate::expression::error::ExpressionError;
use crate::expression::metric::{ChangeBase, MacdPeriods, Metric};

impl Parser<'_> {
    /// Notes the error of a metric at a position, unless an earlier metric has one, and returns the metric.
    pub(super) fn noted(&mut self, reference: MetricReference, position: usize) -> MetricReference {
        if self.unsuitable.is_none()
            && let Some(fix) = fix(reference)
        {
            let part = NumericExpression::Metric(reference).to_string();
            self.unsuitable = Some(ExpressionError::unsuitable(&part, fix, position));
        }
        reference
    }
}

/// Returns how to correct a metric that no new alert can have.
fn fix(MetricReference { symbol, metric }: MetricReference) -> Option<String> {
    match metric {
        Metric::HighSinceArmed | Metric::LowSinceArmed if symbol.is_some() => {
            Some("it is known of the alert's own stock only; omit the symbol".to_owned())
        }
        Metric::ChangePct(ChangeBase::Creation) if symbol.is_some() => {
            Some("it is known of the alert's own stock only; give another base, such as prev_close".to_owned())
        }
        Metric::Macd(periods) | Metric::MacdSignal(periods) if periods.fast >= periods.slow => {
            let MacdPeriods { fast, slow, signal } = periods;
            let (fast, slow, signal) = (fast.get(), slow.get(), signal.get());
            let name = metric.spec().name;
            Some(if fast == slow {
                format!("fast must be less than slow; the default is {name}(12, 26, 9)")
            } else {
                format!("fast must be less than slow; write {name}({slow}, {fast}, {signal})")
            })
        }
        _ => None,
    }
}
