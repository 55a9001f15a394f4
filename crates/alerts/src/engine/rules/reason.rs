//! The reason of a rule's firing.

use std::fmt;

use jiff::Timestamp;
use market::Decimal;

use super::explanation::ExplainedTerm;
use crate::engine::reason::Reason;
use crate::expression::ast::{MetricReference, NumericExpression};
use crate::expression::metric::Metric;
use crate::expression::shape::{metric_level, metrics};
use crate::expression::{Expression, Fraction, MetricValue, MetricValues};
use crate::options::TriggerPrice;

/// The condition that was true.
#[derive(Clone, PartialEq, Debug)]
enum FiringCause {
    /// An expression, with the value of each metric.
    Expression(Expression, Vec<(MetricReference, Option<MetricValue>)>),
    /// A condition that is no expression.
    Direct(Reason),
}

/// The reason for which a rule fired: its expression, and the value of each metric, or that of a named condition. Its text is a sentence for the owner.
#[derive(Clone, PartialEq, Debug)]
pub struct RuleReason {
    cause: FiringCause,
    terms: Vec<ExplainedTerm>,
    held_since: Option<Timestamp>,
    /// The price that was judged.
    trigger: TriggerPrice,
}

impl RuleReason {
    /// Returns the reason with the values at the firing. `held_since` is the judgement since which a condition with the option `hold`
    /// was true.
    pub(super) fn new(
        expression: &Expression,
        values: &impl MetricValues,
        terms: Vec<ExplainedTerm>,
        held_since: Option<Timestamp>,
        trigger: TriggerPrice,
    ) -> Self {
        let used = metrics(expression).into_iter();
        let values = used.map(|metric| (metric, values.value(metric)));
        Self {
            cause: FiringCause::Expression(expression.clone(), values.collect()),
            terms,
            held_since,
            trigger,
        }
    }

    /// Returns the reason of a condition that is no expression.
    pub(super) const fn direct(
        reason: Reason,
        terms: Vec<ExplainedTerm>,
        held_since: Option<Timestamp>,
        trigger: TriggerPrice,
    ) -> Self {
        Self {
            cause: FiringCause::Direct(reason),
            terms,
            held_since,
            trigger,
        }
    }

    /// Returns the comparisons of the condition at the firing.
    #[must_use]
    pub fn terms(&self) -> &[ExplainedTerm] {
        &self.terms
    }

    /// Returns the value of the metric, if the expression compares one metric with a number, or the evaluated number of another
    /// condition.
    #[must_use]
    pub fn metric(&self) -> Option<Decimal> {
        match &self.cause {
            FiringCause::Expression(expression, values) => {
                metric_level(expression)?;
                rounded(values.first()?.1.as_ref()?)
            }
            FiringCause::Direct(reason) => reason.metric(),
        }
    }
}

impl fmt::Display for RuleReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            FiringCause::Expression(expression, values) => {
                write_values(f, expression, values, price_name(self.trigger))?
            }
            FiringCause::Direct(reason) => reason.write(f, price_name(self.trigger))?,
        }
        match self.held_since {
            Some(since) => write!(f, "; true since {since:.0}"),
            None => Ok(()),
        }
    }
}

/// Returns the name of the price that is judged.
const fn price_name(trigger: TriggerPrice) -> &'static str {
    match trigger {
        TriggerPrice::Last | TriggerPrice::TwoLasts => "price",
        TriggerPrice::Bid | TriggerPrice::Ask | TriggerPrice::Mid | TriggerPrice::Close => trigger.name(),
    }
}

/// Writes an expression and the values of its metrics; that of `price` with the name of the price that was judged.
fn write_values(
    f: &mut fmt::Formatter<'_>,
    expression: &Expression,
    values: &[(MetricReference, Option<MetricValue>)],
    price: &str,
) -> fmt::Result {
    write!(f, "{expression}")?;
    for (place, (metric, value)) in values.iter().enumerate() {
        let separator = if place == 0 { ": " } else { ", " };
        let is_price = metric.metric == Metric::Price;
        let mut metric = NumericExpression::Metric(*metric).to_string();
        if is_price {
            let symbol = metric.len() - Metric::Price.spec().name.len();
            metric.replace_range(symbol.., price);
        }
        match value.as_ref().and_then(rounded) {
            Some(value) => write!(f, "{separator}{metric} is {value}")?,
            None => write!(f, "{separator}{metric} is unknown")?,
        }
    }
    Ok(())
}

/// Returns a value with at most four decimals, or with six if it has no more; `None` beyond the range of decimals.
fn rounded(value: &MetricValue) -> Option<Decimal> {
    let nearest = Decimal::from_f64(value.as_f64()).ok()?;
    if *value == MetricValue::Exact(Fraction::from(nearest)) {
        return Some(nearest);
    }
    let micros = nearest.micros();
    let rounded = micros.checked_add(micros.signum() * 50)? / 100 * 100;
    Some(Decimal::from_micros(rounded))
}
