//! The alert of a preview, as it is played.

use alerts::expression::ast::{BooleanExpression, Comparison, Constant, MetricReference, NumericExpression, Relation};
use alerts::expression::conversion::from_condition_with_base;
use alerts::expression::metric::Metric;
use alerts::expression::{Expression, shape};
use alerts::options::{AlertOptions, Repeat};
use alerts::{Channel, Condition, NewAlert, Tags};
use evaluation::stocks::RecordedFacts;
use jiff::civil::Date;
use market::{Decimal, Symbol};

/// The alert of a preview, and what it uses.
#[derive(Clone, PartialEq, Debug)]
pub struct PreviewPlan {
    /// The alert as it is played: it fires each time, and is neither snoozed nor does it expire.
    pub alert: NewAlert,
    /// Its condition as an expression; `None` for one that is no comparison.
    pub expression: Option<Expression>,
    /// The metrics that it uses; empty for a condition that is no comparison.
    pub metrics: Vec<MetricReference>,
}

impl PreviewPlan {
    /// Returns the plan of an alert.
    #[must_use]
    pub fn of(mut alert: NewAlert) -> Self {
        let expression = from_condition_with_base(&alert.condition, alert.options.base);
        // The alert counts as made at the first day, so its end and its snooze are after the period.
        alert.options.expires_at = None;
        alert.options.notify_on_expiry = false;
        alert.options.snoozed_until = None;
        // A reminder has one moment, and a daily reminder repeats by itself.
        let is_reminder = matches!(
            alert.condition,
            Condition::Reminder { .. } | Condition::DailyReminder(_)
        );
        if !is_reminder && alert.options.repeat == Repeat::Once {
            alert.options.repeat = Repeat::EachTime;
            alert.options.max_firings = None;
        }
        alert.options = alert.options.of_condition(&alert.condition);
        let metrics = expression.as_ref().map(shape::metrics).unwrap_or_default();
        Self {
            alert,
            expression,
            metrics,
        }
    }

    /// Returns the stocks that the condition uses, each once: those of the metrics, or else the alert's own.
    #[must_use]
    pub fn used_symbols(&self) -> Vec<Symbol> {
        let mut used: Vec<Symbol> = Vec::new();
        for metric in &self.metrics {
            let symbol = metric.symbol.unwrap_or(self.alert.symbol);
            if !used.contains(&symbol) {
                used.push(symbol);
            }
        }
        if used.is_empty() {
            used.push(self.alert.symbol);
        }
        used
    }

    /// Returns the stocks whose data is needed: the alert's own, whose price a firing has, and those that it uses.
    #[must_use]
    pub fn symbols(&self) -> Vec<Symbol> {
        let mut symbols = self.used_symbols();
        if !symbols.contains(&self.alert.symbol) {
            symbols.push(self.alert.symbol);
        }
        symbols
    }

    /// Returns the facts that the condition uses.
    #[must_use]
    pub fn facts(&self) -> RecordedFacts {
        let uses = |is_used: fn(Metric) -> bool| self.metrics.iter().any(|used| is_used(used.metric));
        RecordedFacts {
            insiders: matches!(self.alert.condition, Condition::InsiderTransactions(_))
                || uses(|metric| matches!(metric, Metric::InsiderBuys(_) | Metric::InsiderSells(_))),
            mentions: matches!(self.alert.condition, Condition::SocialBuzz(_))
                || uses(|metric| matches!(metric, Metric::Mentions | Metric::MentionsRatio)),
            intraday_from: self.alert.condition.is_about_market().then_some(Date::MIN),
        }
    }

    /// Returns whether the condition has no value in daily bars.
    pub(super) fn needs_intraday_bars(&self) -> bool {
        self.metrics.iter().any(|used| used.metric == Metric::Vwap)
    }

    /// Returns why the condition can never be true; empty if it may be. `is_known` says of each metric whether it has a value.
    pub(super) fn never_true(&self, is_known: &[bool]) -> Vec<String> {
        let has_value = |metric| {
            let known = self.metrics.iter().zip(is_known).find(|(used, _)| **used == metric);
            known.is_none_or(|(_, is_known)| *is_known)
        };
        let expression = self.expression.as_ref();
        expression.map_or_else(Vec::new, |expression| shape::never_true(expression, has_value))
    }

    /// Returns an alert for each metric that fires as soon as the metric has a value.
    pub(super) fn probes(&self) -> Vec<NewAlert> {
        self.metrics
            .iter()
            .filter_map(|&metric| Some(self.probe(has_value(metric)?)))
            .collect()
    }

    fn probe(&self, expression: Expression) -> NewAlert {
        NewAlert {
            symbol: self.alert.symbol,
            condition: Condition::expression(expression, None),
            notification: Channel::default(),
            parameters: None,
            note: None,
            tags: Tags::default(),
            options: AlertOptions {
                base: self.alert.options.base,
                trigger: self.alert.options.trigger,
                ..AlertOptions::default()
            },
            routing: alerts::Routing::default(),
            managed_by: None,
            email: None,
        }
    }
}

/// Returns an expression that is true as soon as a metric has a value: `rsi(14) >= 0 or rsi(14) < 0`.
fn has_value(metric: MetricReference) -> Option<Expression> {
    let zero = Constant::new(Decimal::ZERO)?;
    let compared = |relation| {
        let (left, right) = (NumericExpression::Metric(metric), NumericExpression::Constant(zero));
        Box::new(BooleanExpression::Comparison(Comparison::Relation(
            left, relation, right,
        )))
    };
    Expression::new(BooleanExpression::Or(
        compared(Relation::AtLeast),
        compared(Relation::Below),
    ))
    .ok()
}
