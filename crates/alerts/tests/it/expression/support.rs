//! A table of values, as the evaluator reads them.

use std::collections::{BTreeMap, BTreeSet};

use alerts::expression::ast::MetricReference;
use alerts::expression::{
    Crossings, EvaluatedTruth, EvaluationTime, Expression, Fraction, MetricValue, MetricValues, Truth, evaluate,
};
use jiff::{SignedDuration, Timestamp};
use market::{Decimal, Symbol};

/// The values at one evaluation.
#[derive(Clone, Debug, Default)]
pub(crate) struct ValueTable {
    pub(crate) now: BTreeMap<MetricReference, MetricValue>,
    pub(crate) previous: BTreeMap<MetricReference, MetricValue>,
    pub(crate) observed: BTreeSet<Option<Symbol>>,
}

impl MetricValues for ValueTable {
    fn value(&self, metric: MetricReference) -> Option<MetricValue> {
        self.now.get(&metric).cloned()
    }

    fn is_observed(&self, symbol: Option<Symbol>) -> bool {
        self.observed.contains(&symbol)
    }
}

pub(crate) fn parse(text: &str) -> Expression {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Parses a metric such as `AAPL.sma(20)`.
pub(crate) fn metric(text: &str) -> MetricReference {
    let mut found = None;
    parse(&format!("{text} > 0"))
        .condition()
        .for_each_metric(&mut |metric| found = Some(metric));
    found.unwrap()
}

pub(crate) fn exact(text: &str) -> MetricValue {
    MetricValue::Exact(Fraction::from(text.parse::<Decimal>().unwrap()))
}

impl ValueTable {
    /// Sets the value of a metric before and at this observation. A number that ends with `~` is approximate, `?` is no value.
    pub(crate) fn set(mut self, name: &str, previous: &str, now: &str) -> Self {
        let metric = metric(name);
        for (values, text) in [(&mut self.previous, previous), (&mut self.now, now)] {
            let value = match text.strip_suffix('~') {
                Some(float) => MetricValue::Approximate(float.parse().unwrap()),
                None if text == "?" => continue,
                None => exact(text),
            };
            values.insert(metric, value);
        }
        self
    }

    /// Marks the alert's own stock as observed.
    pub(crate) fn observed(mut self) -> Self {
        self.observed.insert(None);
        self
    }

    /// Marks another stock as observed.
    pub(crate) fn observed_other(mut self, symbol: &str) -> Self {
        self.observed.insert(Some(symbol.parse().unwrap()));
        self
    }
}

/// Returns the time of an evaluation, a number of minutes after the first. The session closes after 100 minutes.
pub(crate) fn minute(minutes: i64) -> EvaluationTime {
    let start = Timestamp::from_second(1_720_000_000).unwrap();
    EvaluationTime {
        now: start + SignedDuration::from_mins(minutes),
        session_close: start + SignedDuration::from_mins(100),
    }
}

/// Evaluates an expression once, without `within`.
pub(crate) fn truth(text: &str, values: &ValueTable) -> Truth {
    evaluate_once(&parse(text), values).now
}

/// Evaluates an expression at an observation and the previous one, without `within`.
pub(crate) fn evaluate_once(expression: &Expression, values: &ValueTable) -> EvaluatedTruth {
    evaluate_at(expression, values, 0, &mut Crossings::default())
}

/// Evaluates an expression at an observation and the previous one, a number of minutes after the first.
pub(crate) fn evaluate_at(
    expression: &Expression,
    values: &ValueTable,
    minutes: i64,
    crossings: &mut Crossings,
) -> EvaluatedTruth {
    let previous = ValueTable {
        now: values.previous.clone(),
        ..ValueTable::default()
    };
    *crossings = std::mem::take(crossings).with_orders_at(expression, &previous);
    evaluate(expression, values, minute(minutes), crossings)
}
