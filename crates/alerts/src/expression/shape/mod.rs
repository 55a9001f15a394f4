//! Analyses of an expression that need no values.

mod bounds;
mod inputs;
mod level;
mod possible;
mod slope;

pub use inputs::MetricInputs;
pub use level::{MetricLevel, PriceLevels, compared_prices, metric_level, price_levels};
pub use possible::never_true;
pub use slope::{PriceEffect, SlopeRange, price_effect, price_slope, price_slope_within_range, volume_slope};

use market::Symbol;

use super::ast::{BooleanExpression, Comparison, MetricReference};
use super::metric::MetricFamily;
use super::model::Expression;

/// Returns the metrics that an expression uses, each once, in the order of the text.
#[must_use]
pub fn metrics(expression: &Expression) -> Vec<MetricReference> {
    let mut metrics = Vec::new();
    expression.condition().for_each_metric(&mut |metric| {
        if !metrics.contains(&metric) {
            metrics.push(metric);
        }
    });
    metrics
}

/// Returns the symbols that an expression uses, each once, in the order of the text. `None` is the alert's own.
#[must_use]
pub fn symbols(expression: &Expression) -> Vec<Option<Symbol>> {
    let mut symbols = Vec::new();
    for metric in metrics(expression) {
        if !symbols.contains(&metric.symbol) {
            symbols.push(metric.symbol);
        }
    }
    symbols
}

/// Returns the family: premium if one metric is.
#[must_use]
pub fn family(expression: &Expression) -> MetricFamily {
    let families = metrics(expression)
        .into_iter()
        .map(|metric| metric.metric.spec().family);
    families.max().unwrap_or(MetricFamily::Price)
}

/// Returns whether the expression has a `crosses`.
#[must_use]
pub fn has_crossing(expression: &Expression) -> bool {
    let mut found = false;
    expression
        .condition()
        .for_each_comparison(&mut |comparison| found |= matches!(comparison, Comparison::Crosses(..)));
    found
}

/// Returns whether the expression can become true only by a `crosses`. Such an expression does not fire because it is true when
/// its alert is armed.
#[must_use]
pub fn requires_crossing(expression: &Expression) -> bool {
    !is_possible_without_crossing(expression.condition(), true)
}

/// Returns whether a condition can have this truth while no `crosses` is true. Other comparisons may have any truth.
fn is_possible_without_crossing(condition: &BooleanExpression, truth: bool) -> bool {
    let possible = is_possible_without_crossing;
    match condition {
        BooleanExpression::Comparison(Comparison::Crosses(..)) => !truth,
        BooleanExpression::Comparison(_) => true,
        BooleanExpression::Not(inner) => possible(inner, !truth),
        BooleanExpression::And(left, right) if truth => possible(left, true) && possible(right, true),
        BooleanExpression::And(left, right) => possible(left, false) || possible(right, false),
        BooleanExpression::Or(left, right) if truth => possible(left, true) || possible(right, true),
        BooleanExpression::Or(left, right) => possible(left, false) && possible(right, false),
    }
}
