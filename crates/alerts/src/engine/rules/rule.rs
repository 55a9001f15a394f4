//! One rule: an expression with options, and the state of its life cycle.

use jiff::Timestamp;
use market::{Price, Symbol};

use super::rearm_level::RearmLevel;
use crate::alert::{Alert, AlertId, Revision};
use crate::engine::event::StockIndex;
use crate::engine::group::Band;
use crate::expression::Expression;
use crate::expression::conversion::from_condition;
use crate::expression::metric::{ChangeBase, Metric};
use crate::expression::shape::{metrics, symbols};
use crate::lifecycle::Lifecycle;
use crate::options::{AlertOptions, PercentBase, rearm_of_expression};

/// A rule to arm.
#[derive(Clone, PartialEq, Debug)]
pub struct Rule {
    /// The alert.
    pub alert: AlertId,
    /// The evaluated revision.
    pub revision: Revision,
    /// The alert's own stock.
    pub symbol: Symbol,
    /// The expression.
    pub expression: Expression,
    /// The options.
    pub options: AlertOptions,
    /// The time when the expression was set. Its numbers are in the shares of that day.
    pub set_at: Timestamp,
    /// The price when the alert was created or last activated.
    pub initial_price: Option<Price>,
    /// The state after the last judgement; that of a new alert is [`Lifecycle::new`].
    pub lifecycle: Lifecycle,
}

impl Rule {
    /// Returns an alert as a rule; `None` for one of the 23 conditions without options.
    pub(in crate::engine) fn of(alert: &Alert) -> Option<Self> {
        alert.lifecycle.as_ref()?;
        Self::describing(alert)
    }

    /// Returns what an alert means as a rule; `None` if its condition is no expression.
    pub(super) fn describing(alert: &Alert) -> Option<Self> {
        let lifecycle = match &alert.lifecycle {
            Some(lifecycle) => (**lifecycle).clone(),
            None => Lifecycle::new(alert.armed_at, None, None),
        };
        let mut options = alert.options.clone();
        options.rearm = options.rearm.map(|rearm| rearm_of_expression(&alert.condition, rearm));
        Some(Self {
            alert: alert.id,
            revision: alert.revision,
            symbol: alert.symbol,
            expression: from_condition(&alert.condition)?,
            options,
            set_at: alert.threshold_set_at,
            initial_price: alert.initial_price,
            lifecycle,
        })
    }
}

/// A rule that is armed.
#[derive(Clone, Debug)]
pub(in crate::engine) struct ArmedRule {
    pub(super) rule: Rule,
    /// The stocks of the expression, each with its name in the expression and its quiet band.
    pub(super) stocks: Vec<RuleStock>,
    /// The level of the option `rearm`.
    pub(super) rearm: Option<RearmLevel>,
    /// Whether the state has parts as of arming, which are stored after the first judgement: the orders of the sides of each
    /// `crosses`, and the extremes.
    pub(super) has_new_state: bool,
    /// The price of the alert's own stock at the last judgement.
    pub(super) previous_price: Option<Price>,
    /// The scheduled instant of the next judgement without an observation.
    pub(super) next_check: Option<Timestamp>,
    /// Whether the expression has `high_since_armed` or `low_since_armed`.
    pub(super) has_armed_extremes: bool,
    /// Whether the expression has a metric of prices or volumes. Any other is judged whenever a fact is known, also while the market
    /// is closed.
    pub(super) is_about_market: bool,
    /// Whether the expression has `high_52w` or `low_52w`.
    pub(super) has_52_week_extremes: bool,
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
    /// Returns the rule with the engine's indices of its stocks, in empty bands.
    pub(super) fn new(rule: Rule, mut index_of: impl FnMut(Symbol) -> StockIndex) -> Self {
        let named = symbols(&rule.expression).into_iter();
        let stocks = named.map(|name| RuleStock {
            name,
            stock: index_of(name.unwrap_or(rule.symbol)),
            band: Band::EMPTY,
        });
        let stocks = stocks.collect();
        let metrics = metrics(&rule.expression);
        let has = |one: Metric, other: Metric| metrics.iter().any(|found| found.metric == one || found.metric == other);
        let has_armed_extremes = has(Metric::HighSinceArmed, Metric::LowSinceArmed);
        let has_52_week_extremes = has(Metric::High52Weeks, Metric::Low52Weeks);
        let mut needs = metrics.iter().flat_map(|used| used.metric.spec().needs);
        let is_about_market = needs.any(|need| need.is_market_data());
        let rearm = rule.options.rearm;
        let rearm = rearm.and_then(|rearm| RearmLevel::new(&rule.expression, rearm));
        Self {
            rearm,
            rule,
            stocks,
            has_new_state: false,
            is_about_market,
            previous_price: None,
            next_check: None,
            has_armed_extremes,
            has_52_week_extremes,
        }
    }

    /// Returns the alert.
    pub(in crate::engine) const fn alert(&self) -> AlertId {
        self.rule.alert
    }

    /// Returns the evaluated revision.
    pub(in crate::engine) const fn revision(&self) -> Revision {
        self.rule.revision
    }

    /// Returns the start of the judgements.
    pub(in crate::engine) const fn armed_at(&self) -> Timestamp {
        self.rule.lifecycle.armed_at
    }

    /// Returns the first stock that the expression names.
    pub(in crate::engine) fn first_stock(&self) -> StockIndex {
        // Every comparison has a metric, and every metric has a stock.
        self.stocks.first().map_or(StockIndex(0), |at| at.stock)
    }

    /// Returns the stocks of the expression.
    pub(in crate::engine) fn stock_indices(&self) -> impl Iterator<Item = StockIndex> + '_ {
        self.stocks.iter().map(|at| at.stock)
    }

    /// Returns the base of `change_pct` without an argument.
    pub(super) fn change_base(&self) -> ChangeBase {
        match self.rule.options.base {
            PercentBase::Creation => ChangeBase::Creation,
            PercentBase::PreviousClose => ChangeBase::PrevClose,
            PercentBase::Open => ChangeBase::Open,
        }
    }
}
