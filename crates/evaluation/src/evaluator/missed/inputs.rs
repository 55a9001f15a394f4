//! The data that an alert depends on, by stock.

use std::collections::{BTreeMap, BTreeSet};

use ::alerts::Alert;
use ::alerts::condition::{Condition, ConditionFamily};
use ::alerts::expression::shape::metrics;
use ::alerts::metrics::{MetricDependency, dependencies};
use ::alerts::options::TriggerPrice;
use ::market::Symbol;

/// The stocks of an alert, each with the data of it that the alert depends on.
#[derive(Debug)]
pub(super) struct AlertInputs(BTreeMap<Symbol, BTreeSet<MetricDependency>>);

impl AlertInputs {
    pub(super) fn of(alert: &Alert) -> Self {
        use MetricDependency::{BidAsk, Fundamentals, History, Price, Volume};
        let mut inputs = BTreeMap::from([(alert.symbol, BTreeSet::new())]);
        let mut add = |symbol: Symbol, data: &[MetricDependency]| {
            let known: &mut BTreeSet<_> = inputs.entry(symbol).or_default();
            known.extend(data.iter().copied());
        };
        match &alert.condition {
            Condition::Expression(condition) => {
                for used in metrics(&condition.expression) {
                    add(used.symbol.unwrap_or(alert.symbol), dependencies(used.metric));
                }
            }
            other => match other.kind().family() {
                ConditionFamily::Price | ConditionFamily::Technical => add(alert.symbol, &[Price, History]),
                ConditionFamily::Volume => add(alert.symbol, &[Volume, History]),
                ConditionFamily::Fundamental => add(alert.symbol, &[Price, Fundamentals]),
                _ => {}
            },
        }
        if matches!(
            alert.options.trigger,
            TriggerPrice::Bid | TriggerPrice::Ask | TriggerPrice::Mid
        ) {
            let judged = inputs.values_mut().filter(|data| data.contains(&Price));
            judged.for_each(|data| data.extend([BidAsk]));
        }
        Self(inputs)
    }

    /// Returns the stocks of the alert.
    pub(super) fn stocks(&self) -> impl Iterator<Item = Symbol> {
        self.0.keys().copied()
    }

    /// Returns the stocks of which the alert depends on some data.
    pub(super) fn stocks_with(&self, data: MetricDependency) -> impl Iterator<Item = Symbol> {
        let stocks = self.0.iter().filter(move |(_, used)| used.contains(&data));
        stocks.map(|(symbol, _)| *symbol)
    }

    /// Returns whether the alert depends on other stocks than one.
    pub(super) fn is_of_several_stocks(&self) -> bool {
        self.0.len() > 1
    }

    /// Returns whether the alert is evaluated at observations, and not at the arrival of facts or by the clock.
    pub(super) fn has_market_data(&self) -> bool {
        use MetricDependency::{AlertBasis, BidAsk, History, Price, Volume, Vwap};
        let mut used = self.0.values().flatten();
        used.any(|data| matches!(data, Price | Volume | BidAsk | Vwap | History | AlertBasis))
    }
}
