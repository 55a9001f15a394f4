//! The values of metrics for one rule.

use jiff::Timestamp;
use jiff::civil::Date;
use market::calendar::new_york;
use market::{Decimal, Price, SplitRatio, Symbol};

use super::quiet_bands::ValuesElsewhere;
use crate::engine::hot_line::{HotLine, NO_DAY};
use crate::engine::stock::Stock;
use crate::expression::ast::{ArithmeticOperator, MetricReference};
use crate::expression::metric::{Metric, MetricUnit};
use crate::expression::{Fraction, MetricValue, MetricValues};
use crate::metrics::{AlertBasis, Fundamentals, SessionSoFar, StockView, metric_value};

/// The stocks of a rule at one instant.
pub(super) struct RuleValues<'a> {
    pub(super) stocks: Vec<SeenStock<'a>>,
    pub(super) basis: AlertBasis,
}

/// A stock of a rule.
pub(super) struct SeenStock<'a> {
    /// The name in the expression; `None` is the alert's own.
    pub(super) name: Option<Symbol>,
    pub(super) view: StockView<'a>,
    /// Whether there is a new observation.
    pub(super) is_observed: bool,
    /// The present shares for one share of the day on which the expression was set; `None` if it is one.
    pub(super) share_ratio: Option<Fraction>,
}

impl SeenStock<'_> {
    /// Returns the value of a metric in the shares of the day on which the expression was set.
    fn value(&self, view: &StockView<'_>, basis: &AlertBasis, metric: Metric) -> Option<MetricValue> {
        let value = metric_value(view, basis, metric)?;
        let Some(ratio) = &self.share_ratio else {
            return Some(value);
        };
        let operator = match metric.spec().unit {
            MetricUnit::UsdPerShare => ArithmeticOperator::Multiply,
            MetricUnit::Shares => ArithmeticOperator::Divide,
            _ => return Some(value),
        };
        value.compute(operator, &MetricValue::Exact(ratio.clone()))
    }
}

/// Returns the present shares for one share of an instant; `None` if it is one.
pub(super) fn share_ratio(splits: &[(Date, SplitRatio)], set_at: Timestamp) -> Option<Fraction> {
    let later = splits.iter().filter(|(date, _)| new_york(*date, 0, 0) > set_at);
    let product = later.fold(Fraction::from_whole(1), |product, (_, ratio)| {
        product.multiply(&Fraction::from_micros(ratio.micros()))
    });
    (product != Fraction::from_whole(1)).then_some(product)
}

impl RuleValues<'_> {
    fn place(&self, symbol: Option<Symbol>) -> Option<usize> {
        self.stocks.iter().position(|seen| seen.name == symbol)
    }

    /// Returns whether a stock was split since the expression was set.
    pub(super) fn has_share_ratio(&self) -> bool {
        self.stocks.iter().any(|seen| seen.share_ratio.is_some())
    }
}

impl MetricValues for RuleValues<'_> {
    fn value(&self, metric: MetricReference) -> Option<MetricValue> {
        let seen = &self.stocks[self.place(metric.symbol)?];
        seen.value(&seen.view, &self.basis, metric.metric)
    }

    fn is_observed(&self, symbol: Option<Symbol>) -> bool {
        self.place(symbol).is_some_and(|at| self.stocks[at].is_observed)
    }
}

impl ValuesElsewhere for RuleValues<'_> {
    fn value(&self, metric: MetricReference, elsewhere: Option<(usize, i64, i64)>) -> Option<MetricValue> {
        let at = self.place(metric.symbol)?;
        let seen = &self.stocks[at];
        let mut view = seen.view;
        if let Some((moved, price, volume)) = elsewhere
            && moved == at
        {
            view.price = Price::from_micros(price).ok();
            view.session = view.session.map(|session| SessionSoFar {
                volume: (volume >= 0).then_some(volume),
                ..session
            });
        }
        seen.value(&view, &self.basis, metric.metric)
    }
}

/// The moment as of which a stock is seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SeenAt {
    /// At its last observation: its 52-week extremes are those before it.
    Observation,
    /// Before its next observation: the last one counts for the extremes.
    Afterwards,
}

/// Returns everything that the engine knows of a stock.
pub(super) fn view<'a>(stock: &'a Stock, hot: &HotLine, today: Date, seen: SeenAt) -> StockView<'a> {
    let price = |micros: i64| Price::from_micros(micros).ok();
    let last = Stock::last_price(hot);
    let session = stock
        .session
        .filter(|_| hot.day != NO_DAY)
        .zip(last)
        .map(|(session, last)| SessionSoFar {
            open: session.open(),
            high: price(hot.high).map_or(last, |high| high.max(last)),
            low: price(hot.low).map_or(last, |low| low.min(last)),
            volume: (hot.volume >= 0).then_some(hot.volume),
            vwap: None,
        });
    let extremes = stock.extremes(hot, today, seen == SeenAt::Afterwards);
    let facts = stock.facts.as_deref();
    StockView {
        history: &stock.history,
        session,
        price: last,
        bid: None,
        ask: None,
        high_52_weeks: extremes.0.and_then(price),
        low_52_weeks: extremes.1.and_then(price),
        fundamentals: Fundamentals {
            trailing_eps: stock.eps.trailing.map(Decimal::from_micros),
            forward_eps: stock.eps.forward.map(Decimal::from_micros),
            ..Fundamentals::default()
        },
        mentions: facts.and_then(|facts| facts.buzz.mention_counts()),
        insider_trades: facts.map(|facts| facts.trades()),
        earnings: facts.map_or(&[], |facts| facts.earnings()),
        dividends: facts.map_or(&[], |facts| facts.dividends()),
        today,
    }
}
