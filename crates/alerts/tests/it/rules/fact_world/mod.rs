//! Invented markets of two stocks with facts, dates and splits, and one rule.

mod expressions;
mod run;
mod steps;

use alerts::expression::shape::metrics;
use alerts::lifecycle::Lifecycle;
use alerts::options::{AlertOptions, Rearm, Repeat, TriggerPrice};
use alerts::{Alert, Condition};
use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};
use market::{Price, SplitRatio};
use proptest::prelude::*;

use steps::Market;

/// Whole dollars, percents or shares in millionths.
pub(crate) const MICROS: i64 = 1_000_000;

/// An invented market with one rule.
#[derive(Clone, Debug)]
pub(crate) struct FactWorld {
    pub(crate) alert: Alert,
    /// The level of the option `rearm` as an expression, which is true once the metric has returned to it.
    pub(crate) rearm: Option<alerts::expression::Expression>,
    pub(crate) record: Vec<(Timestamp, FactEvent)>,
}

/// An event of a market. Prices, volumes and earnings are per share of its time.
#[derive(Clone, Debug)]
pub(crate) enum FactEvent {
    /// Observations in the session.
    Prices(Vec<SeenPrice>),
    /// The minute's evaluation.
    Evaluate,
    Clock,
    /// Trailing and forward earnings per share, market capitalization and dividend yield, in millionths.
    Fundamentals(usize, [Option<i64>; 4]),
    Earnings(usize, Vec<Date>),
    /// Ex-dividend dates and payment dates.
    Dividends(usize, Vec<(Date, Option<Date>)>),
    Trades(usize, Vec<Trade>),
    TradesReplaced(usize, Vec<Trade>),
    Mentions(usize, Timestamp, u32),
    Split(usize, SplitRatio),
    /// The rule is armed.
    Armed,
    /// Another alert on the rule's stock is armed.
    OtherArmed,
}

/// An observation of a stock; 0 is the alert's own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeenPrice {
    pub(crate) stock: usize,
    pub(crate) price: i64,
    pub(crate) volume: i64,
}

/// An insider trade, with its value in whole dollars.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trade {
    pub(crate) filed_on: Date,
    pub(crate) bought: bool,
    pub(crate) open_market: bool,
    pub(crate) usd: i64,
}

impl FactWorld {
    /// Returns the expression of the rule.
    pub(crate) fn expression(&self) -> &alerts::expression::Expression {
        super::world::expression_of(&self.alert)
    }

    /// Returns the firings of the engine.
    pub(crate) fn firings_of_engine(&self) -> Vec<super::world::Firing> {
        run::firings(self, false)
    }

    /// Returns the firings if the engine is replaced before every event.
    pub(crate) fn firings_of_restarted_engines(&self) -> Vec<super::world::Firing> {
        run::firings(self, true)
    }
}

/// Returns invented markets.
pub(crate) fn fact_worlds() -> impl Strategy<Value = FactWorld> {
    let steps = proptest::collection::vec(steps::steps(), 6..40);
    let snooze = proptest::option::weighted(0.2, 1..3_000_i64);
    let rule = (expressions::rules(), expressions::options(), expressions::within());
    (rule, steps::beginnings(), steps, 0..8_usize, snooze).prop_map(
        |((rule, options, within), beginning, steps, armed_after, snooze)| {
            let mut market = Market::new(&beginning);
            let mut armed = None;
            for (place, step) in steps.iter().enumerate() {
                if place == armed_after.min(steps.len() - 1) {
                    armed = Some((market.now, market.newest_price()));
                    market.record.push((market.now, FactEvent::Armed));
                }
                market.take(step);
            }
            let (armed_at, initial_price) = armed.unwrap();
            // Options of prices do not fit a condition without prices.
            let has_prices = metrics(&rule.expression)
                .iter()
                .any(|used| used.metric.spec().needs.iter().any(|need| need.is_market_data()));
            let trigger = if has_prices {
                options.trigger
            } else {
                TriggerPrice::Last
            };
            let rearm = rule.rearm.filter(|_| options.repeat != Repeat::Once);
            let options = AlertOptions {
                rearm: rearm
                    .as_ref()
                    .map(|(_, level)| Rearm::At(market::Decimal::from_micros(level * MICROS))),
                snoozed_until: snooze.map(|minutes| armed_at + SignedDuration::from_mins(minutes)),
                trigger,
                ..options
            };
            let rearm_text = rearm.map(|(text, _)| text.parse().unwrap());
            let initial_price = initial_price.map(|micros| Price::from_micros(micros).unwrap());
            let condition = Condition::expression(rule.expression, within);
            FactWorld {
                alert: Alert {
                    options,
                    initial_price,
                    lifecycle: Some(Box::new(Lifecycle::new(armed_at, None, within))),
                    ..crate::common::alert(1, super::world::symbols()[0], condition, armed_at)
                },
                rearm: rearm_text,
                record: market.record,
            }
        },
    )
}
