//! One rule: an expression with options, and the state of its life cycle.

use jiff::Timestamp;
use market::{Price, Symbol};

use super::direct::{DirectCondition, RuleCondition};
use super::rearm_level::RearmLevel;
use super::search_policy::SearchPolicy;
use crate::EvaluatedAlert;
use crate::alert::{AlertId, Revision};
use crate::condition::Condition;
use crate::engine::event::StockIndex;
use crate::engine::group::Band;
use crate::expression::max_numbers;
use crate::expression::metric::{ChangeBase, Metric};
use crate::expression::shape::{metrics, symbols};
use crate::lifecycle::Lifecycle;
use crate::metrics::{MetricDependency, dependencies};
use crate::options::{AlertOptions, TriggerPrice, rearm_of_expression};

/// A rule to arm.
#[derive(Clone, PartialEq, Debug)]
pub(in crate::engine) struct Rule {
    /// The alert.
    pub(super) alert: AlertId,
    /// The evaluated revision.
    pub(super) revision: Revision,
    /// The alert's own stock.
    pub(super) symbol: Symbol,
    /// The condition.
    pub(super) condition: Condition,
    /// The condition in the form in which it is judged.
    pub(super) judged: RuleCondition,
    /// The time when the expression was set, in whose shares it is judged; `None` for one of the 23 conditions, whose threshold is
    /// adjusted.
    pub(super) expression_set_at: Option<Timestamp>,
    /// The options.
    pub(super) options: AlertOptions,
    /// The price when the alert was created or last activated.
    pub(super) initial_price: Option<Price>,
    /// The state after the last judgement; that of a new alert is [`Lifecycle::new`].
    pub(super) lifecycle: Lifecycle,
}

impl Rule {
    /// Returns an alert as a rule; `None` for one of the 23 conditions without options.
    pub(in crate::engine) fn of(alert: &EvaluatedAlert) -> Option<Self> {
        Self::with_lifecycle(alert, alert.lifecycle.as_deref()?.clone())
    }

    /// Returns an alert as a rule in a state; `None` for a condition that is judged neither as an expression nor directly.
    pub(super) fn with_lifecycle(alert: &EvaluatedAlert, lifecycle: Lifecycle) -> Option<Self> {
        let is_expression = matches!(alert.condition, Condition::Expression(_));
        Some(Self {
            alert: alert.id,
            revision: alert.revision,
            symbol: alert.symbol,
            judged: RuleCondition::of(&alert.condition, alert.options.base)?,
            expression_set_at: is_expression.then_some(alert.threshold_set_at),
            condition: alert.condition.clone(),
            options: AlertOptions {
                rearm: alert
                    .options
                    .rearm
                    .map(|rearm| rearm_of_expression(&alert.condition, rearm)),
                ..alert.options.clone()
            },
            initial_price: alert.initial_price,
            lifecycle,
        })
    }
}

/// The largest number of constants and metrics of a comparison for which quiet bands are searched.
const MAX_SEARCHED_NUMBERS: usize = 10;

/// A rule that is armed.
#[derive(Clone, Debug)]
pub(in crate::engine) struct ArmedRule {
    pub(super) rule: Rule,
    /// The stocks of the expression, each with its name in the expression and its quiet band.
    pub(super) stocks: Vec<RuleStock>,
    /// The level of the option `rearm`.
    pub(super) rearm: Option<RearmLevel>,
    /// The price of the alert's own stock at the last judgement.
    pub(super) previous_price: Option<Price>,
    /// The scheduled instant of the next judgement without an observation.
    pub(super) next_check: Option<Timestamp>,
    /// The first close at which the rule was not judged, if it is judged at closes only.
    pub(super) next_close: Option<Timestamp>,
    /// Whether the expression has `high_since_armed` or `low_since_armed`.
    pub(super) has_armed_extremes: bool,
    /// Whether the expression has `high_52w` or `low_52w`.
    pub(super) has_52_week_extremes: bool,
    /// Whether the expression has `bid`, `ask` or `vwap`, or judges bid or ask in place of the last price.
    pub(super) has_quote_details: bool,
    /// Whether the expression has a metric of prices or volumes.
    pub(super) has_market_data: bool,
    /// Whether the expression has a metric that changes with the date.
    pub(super) has_dates: bool,
    /// Whether a comparison has so many numbers that a search for quiet bands takes longer than the judgements that it saves.
    pub(super) is_too_long_to_search: bool,
    /// Whether to search the next quiet bands.
    pub(super) search_policy: SearchPolicy,
}

/// A stock of a rule.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct RuleStock {
    /// `None` is the alert's own.
    pub(super) name: Option<Symbol>,
    pub(super) stock: StockIndex,
    /// The band under which the rule is in the stock's index.
    pub(super) band: Band,
}

impl ArmedRule {
    /// Returns the rule with the engine's indices of its stocks, in empty bands unless prices change nothing.
    pub(super) fn new(rule: Rule, mut index_of: impl FnMut(Symbol) -> StockIndex) -> Self {
        let expression = rule.judged.expression();
        let first_band = match rule.judged.direct() {
            Some(direct) if !direct.has_market_data() => Band::WIDE,
            _ => Band::EMPTY,
        };
        let named = expression.map_or_else(|| vec![None], |expression| symbols(expression).into_iter().collect());
        let stocks = named.into_iter().map(|name| RuleStock {
            name,
            stock: index_of(name.unwrap_or(rule.symbol)),
            band: first_band,
        });
        let stocks = stocks.collect();
        let metrics = expression.map(metrics).unwrap_or_default();
        let direct = rule.judged.direct();
        let has = |one: Metric, other: Metric| metrics.iter().any(|found| found.metric == one || found.metric == other);
        let has_armed_extremes = has(Metric::HighSinceArmed, Metric::LowSinceArmed);
        let has_52_week_extremes = has(Metric::High52Weeks, Metric::Low52Weeks);
        let depends = |data: MetricDependency| metrics.iter().any(|found| dependencies(found.metric).contains(&data));
        let has_market_data = [
            MetricDependency::Price,
            MetricDependency::Volume,
            MetricDependency::BidAsk,
            MetricDependency::Vwap,
            MetricDependency::History,
            MetricDependency::AlertBasis,
        ]
        .into_iter()
        .any(depends)
            || direct.is_some_and(DirectCondition::has_market_data);
        let has_dates = depends(MetricDependency::Date) || direct.is_some_and(DirectCondition::has_dates);
        let has_quote_details = depends(MetricDependency::BidAsk)
            || depends(MetricDependency::Vwap)
            || matches!(
                rule.options.trigger,
                TriggerPrice::Bid | TriggerPrice::Ask | TriggerPrice::Mid
            );
        let is_too_long_to_search = expression.is_some_and(|expression| max_numbers(expression) > MAX_SEARCHED_NUMBERS);
        let rearm = rule.options.rearm;
        let rearm = rearm
            .zip(expression)
            .and_then(|(rearm, expression)| RearmLevel::new(expression, rearm));
        Self {
            rearm,
            rule,
            stocks,
            previous_price: None,
            next_check: None,
            next_close: None,
            has_armed_extremes,
            has_52_week_extremes,
            has_quote_details,
            has_market_data,
            has_dates,
            is_too_long_to_search,
            search_policy: SearchPolicy::default(),
        }
    }

    /// Returns whether the expression has a metric of a stock that depends on some data.
    pub(super) fn uses(&self, stock: StockIndex, data: MetricDependency) -> bool {
        let name = self.stocks.iter().find(|at| at.stock == stock).map(|at| at.name);
        let expression = match &self.rule.judged {
            RuleCondition::Expression(expression) => expression,
            RuleCondition::Direct(direct) => return name.is_some() && direct.uses(data),
        };
        let used = metrics(expression).into_iter();
        used.filter(|metric| Some(metric.symbol) == name)
            .any(|metric| dependencies(metric.metric).contains(&data))
    }

    /// Returns whether the condition depends on the time alone.
    pub(super) fn is_of_time(&self) -> bool {
        self.rule.judged.direct().is_some_and(DirectCondition::is_of_time)
    }

    /// Returns whether observations change nothing: only the closes of sessions, facts or instants are judged.
    pub(super) fn ignores_observations(&self) -> bool {
        let direct = self.rule.judged.direct();
        self.is_judged_at_close() || direct.is_some_and(|direct| !direct.has_market_data())
    }

    /// Returns whether only the closes of sessions are judged.
    pub(super) fn is_judged_at_close(&self) -> bool {
        self.rule.options.trigger == TriggerPrice::Close
    }

    /// Returns whether prices of extended hours are judged, too.
    pub(super) fn judges_extended_hours(&self) -> bool {
        self.rule.options.judges_extended_hours()
    }

    /// Returns the alert's id.
    pub(in crate::engine) const fn id(&self) -> AlertId {
        self.rule.alert
    }

    /// Returns the evaluated revision.
    pub(in crate::engine) const fn revision(&self) -> Revision {
        self.rule.revision
    }

    /// Returns the start of the judgements.
    pub(in crate::engine) fn armed_at(&self) -> Timestamp {
        self.rule.lifecycle.armed_at
    }

    /// Returns the stocks that the expression names.
    pub(in crate::engine) fn stock_indices(&self) -> impl Iterator<Item = StockIndex> {
        self.stocks.iter().map(|at| at.stock)
    }

    /// Returns the alert's own stock.
    pub(in crate::engine) const fn own_stock(&self) -> Symbol {
        self.rule.symbol
    }

    /// Returns whether the expression names a stock besides the alert's own.
    pub(in crate::engine) fn names_another_stock(&self) -> bool {
        self.stocks.iter().any(|at| at.name.is_some())
    }

    /// Returns the base of `change_pct` without an argument.
    pub(super) fn change_base(&self) -> ChangeBase {
        self.rule.options.base.in_expressions()
    }
}
