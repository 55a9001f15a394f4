//! The values of metrics for one rule.

use jiff::civil::Date;
use market::{Price, Symbol};

use super::earlier_shares::in_earlier_shares;
use super::quiet_bands::ValuesElsewhere;
use super::rule::ArmedRule;
use crate::engine::hot_line::{HotLine, NO_DAY};
use crate::engine::stock::Stock;
use crate::expression::ast::MetricReference;
use crate::expression::{Fraction, MetricValue, MetricValues};
use crate::metrics::{AlertBasis, SessionSoFar, StockInputs, metric_value};
use crate::options::TriggerPrice;

/// The stocks of a rule at one instant.
pub(super) struct RuleValues<'a> {
    /// The name of each stock in the expression, with its data and whether it has a new observation.
    pub(super) stocks: Vec<(Option<Symbol>, StockInputs<'a>, bool)>,
    /// The number of today's shares of each stock for one of the day on which the expression was set; `None` if they are the same.
    pub(super) shares: Vec<Option<Fraction>>,
    pub(super) basis: AlertBasis,
}

impl RuleValues<'_> {
    fn place(&self, symbol: Option<Symbol>) -> Option<usize> {
        self.stocks.iter().position(|(name, ..)| *name == symbol)
    }
}

impl MetricValues for RuleValues<'_> {
    fn value(&self, metric: MetricReference) -> Option<MetricValue> {
        ValuesElsewhere::value(self, metric, None)
    }

    fn is_observed(&self, symbol: Option<Symbol>) -> bool {
        self.place(symbol).is_some_and(|at| self.stocks[at].2)
    }
}

impl ValuesElsewhere for RuleValues<'_> {
    fn value(&self, metric: MetricReference, elsewhere: Option<(usize, i64, i64)>) -> Option<MetricValue> {
        let at = self.place(metric.symbol)?;
        let mut view = self.stocks[at].1;
        if let Some((moved, price, volume)) = elsewhere
            && moved == at
        {
            view.price = Price::from_micros(price).ok();
            view.session = view.session.map(|session| SessionSoFar {
                volume: (volume >= 0).then_some(volume),
                ..session
            });
        }
        let basis = metric.symbol.map_or(self.basis, |_| self.basis.of_another_stock());
        let value = metric_value(&view, &basis, metric.metric)?;
        match &self.shares[at] {
            Some(shares) => in_earlier_shares(value, metric.metric, shares),
            None => Some(value),
        }
    }
}

/// Returns the price of a stock that an alert judges; `None` while it is unknown.
pub(super) fn judged_price(view: &StockInputs<'_>, trigger: TriggerPrice) -> Option<Price> {
    match trigger {
        TriggerPrice::Last | TriggerPrice::TwoLasts | TriggerPrice::Close => view.price,
        TriggerPrice::Bid => view.bid,
        TriggerPrice::Ask => view.ask,
        TriggerPrice::Mid => {
            let (bid, ask) = view.bid.zip(view.ask)?;
            Price::from_micros(i64::midpoint(bid.micros(), ask.micros())).ok()
        }
    }
}

/// The moment as of which a stock is seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SeenAt {
    /// At its last observation: its 52-week extremes are those before it.
    Observation,
    /// Before its next observation: the last one counts for the extremes.
    Afterwards,
    /// At the close of its last completed session.
    LastClose,
}

/// Returns everything that a rule knows of a stock: with `session: extended`, its newest price may be one of extended hours.
pub(super) fn view_of<'a>(
    armed: &ArmedRule,
    stock: &'a Stock,
    hot: &HotLine,
    today: Date,
    seen: SeenAt,
) -> StockInputs<'a> {
    let inputs = view(stock, hot, today, seen);
    match stock.extended.filter(|_| armed.judges_extended_hours()) {
        // The session before it has ended, and the next one has not begun.
        Some(newest) => StockInputs {
            price: Some(newest.price),
            bid: newest.bid,
            ask: newest.ask,
            is_extended: true,
            ..inputs
        },
        None => inputs,
    }
}

/// Returns everything that the engine knows of a stock, without its price in extended hours.
fn view<'a>(stock: &'a Stock, hot: &HotLine, today: Date, seen: SeenAt) -> StockInputs<'a> {
    let price = |micros: i64| Price::from_micros(micros).ok();
    let (last, details) = match seen {
        SeenAt::LastClose => (stock.history.last().map(|bar| bar.close), None),
        SeenAt::Observation | SeenAt::Afterwards => (Stock::last_price(hot), stock.details(hot)),
    };
    let session = stock
        .session
        .filter(|_| hot.day != NO_DAY && seen != SeenAt::LastClose)
        .zip(last)
        .map(|(session, last)| SessionSoFar {
            open: session.open(),
            high: price(hot.high).map_or(last, |high| high.max(last)),
            low: price(hot.low).map_or(last, |low| low.min(last)),
            volume: (hot.volume >= 0).then_some(hot.volume),
            vwap: details.and_then(|details| details.vwap),
        });
    let extremes = stock.extremes(hot, today, seen == SeenAt::Afterwards);
    let facts = stock.facts.as_deref();
    StockInputs {
        history: &stock.history,
        session,
        price: last,
        is_extended: false,
        bid: details.and_then(|details| details.bid),
        ask: details.and_then(|details| details.ask),
        high_52_weeks: extremes.0.and_then(price),
        low_52_weeks: extremes.1.and_then(price),
        fundamentals: stock.fundamentals,
        mentions: facts.and_then(|facts| facts.buzz.mention_counts()),
        // Whether they are known depends on all stocks.
        insider_trades: None,
        earnings: facts.map_or(&[], |facts| facts.earnings()),
        dividends: facts.map_or(&[], |facts| facts.dividends()),
        today,
    }
}
