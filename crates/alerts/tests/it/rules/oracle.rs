//! A judgement of the rule at every observation of its stocks, without quiet bands.

use std::collections::BTreeSet;

use alerts::Alert;
use alerts::expression::ast::MetricReference;
use alerts::expression::metric::Metric;
use alerts::expression::shape::{metrics, symbols as symbols_of};
use alerts::expression::{Crossings, EvaluationTime, Expression, MetricValue, MetricValues, evaluate};
use alerts::lifecycle::{ArmedExtremes, Judgement, Observation, Outcome, step};
use alerts::metrics::{AlertBasis, FundamentalFigures, SessionSoFar, StockInputs, metric_value};
use alerts::options::{ConditionLevel, SessionScope, TriggerPrice};
use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};
use market::day::day_number;
use market::{Bar, Calendar, History, Price, Symbol};

use super::world::{Firing, Observed, TradedDay, expression_of, known_bars};

/// A stock: the completed sessions and the prices of the running one.
struct Stock {
    bars: Vec<Bar>,
    today: Vec<i64>,
    last: Option<i64>,
    last_at: Option<Timestamp>,
    volume: i64,
    /// The newest bid and ask of the running session.
    book: Option<(i64, i64)>,
    /// The newest volume-weighted average price of the running session.
    vwap: Option<i64>,
    /// The newest price since the last observation in a session.
    extended: Option<Extended>,
}

/// A price in extended hours, with the session to which it belongs.
#[derive(Clone, Copy)]
struct Extended {
    session: Date,
    price: i64,
    book: Option<(i64, i64)>,
}

impl Stock {
    fn history(&self) -> History {
        let mut history = History::default();
        for bar in &self.bars {
            history.record(*bar).unwrap();
        }
        history
    }

    fn observe(&mut self, observed: &Observed, now: Timestamp, extended: Option<Date>) {
        if let Some(session) = extended {
            let before = self.extended.filter(|before| before.session == session);
            self.extended = Some(Extended {
                session,
                price: observed.price,
                book: observed.book.or(before.and_then(|before| before.book)),
            });
            return;
        }
        self.extended = None;
        self.today.push(observed.price);
        self.last = Some(observed.price);
        self.last_at = Some(now);
        self.book = observed.book.or(self.book);
        self.vwap = observed.vwap.or(self.vwap);
        self.volume = self.volume.max(observed.volume);
    }

    fn complete(&mut self, date: Date) {
        let Some((&open, &close)) = self.today.first().zip(self.today.last()) else {
            return;
        };
        let price = |micros: i64| Price::from_micros(micros).unwrap();
        self.bars.push(Bar {
            date,
            open: price(open),
            high: price(*self.today.iter().max().unwrap()),
            low: price(*self.today.iter().min().unwrap()),
            close: price(close),
            volume: self.volume.max(0),
        });
        self.today.clear();
        self.volume = -1;
        self.book = None;
        self.vwap = None;
    }
}

struct Values<'a> {
    views: [StockInputs<'a>; 2],
    basis: AlertBasis,
    observed: BTreeSet<usize>,
}

fn place(symbol: Option<Symbol>) -> usize {
    usize::from(symbol.is_some())
}

impl MetricValues for Values<'_> {
    fn value(&self, metric: MetricReference) -> Option<MetricValue> {
        let basis = metric.symbol.map_or(self.basis, |_| self.basis.of_another_stock());
        metric_value(&self.views[place(metric.symbol)], &basis, metric.metric)
    }

    fn is_observed(&self, symbol: Option<Symbol>) -> bool {
        self.observed.contains(&place(symbol))
    }
}

fn view<'a>(stock: &Stock, history: &'a History, date: Date, trigger: TriggerPrice) -> StockInputs<'a> {
    let price = |micros: i64| Price::from_micros(micros).unwrap();
    let (last, book) = match stock.extended {
        Some(extended) => (Some(extended.price), extended.book),
        None => (stock.last, stock.book),
    };
    let (bid, ask) = (book.map(|book| price(book.0)), book.map(|book| price(book.1)));
    let (mut high, mut low) = history
        .extremes_52_weeks(day_number(date))
        .map_or((None, None), |(high, low)| (Some(high), Some(low)));
    // Only closes are observations, so the others of the session do not count.
    let earlier = match trigger {
        TriggerPrice::Close => &[],
        _ => &stock.today[..stock.today.len().saturating_sub(1)],
    };
    high = high.max(earlier.iter().copied().max());
    low = low.into_iter().chain(earlier.iter().copied().min()).min();
    StockInputs {
        history,
        session: stock.today.first().map(|&open| SessionSoFar {
            open: price(open),
            high: price(*stock.today.iter().max().unwrap()),
            low: price(*stock.today.iter().min().unwrap()),
            volume: (stock.volume >= 0).then_some(stock.volume),
            vwap: stock.vwap.map(price),
        }),
        price: match trigger {
            TriggerPrice::Last | TriggerPrice::TwoLasts | TriggerPrice::Close => last.map(price),
            TriggerPrice::Bid => bid,
            TriggerPrice::Ask => ask,
            TriggerPrice::Mid => book.map(|(bid, ask)| price((bid + ask) / 2)),
        },
        is_extended: stock.extended.is_some(),
        bid,
        ask,
        high_52_weeks: high.map(price),
        low_52_weeks: low.map(price),
        fundamentals: FundamentalFigures::default(),
        mentions: None,
        insider_trades: None,
        earnings: &[],
        dividends: &[],
        today: date,
    }
}

/// Returns whether the metric of the rule has returned to the level of `rearm`.
fn is_rearmed(alert: &Alert, expression: &Expression, values: &Values<'_>) -> bool {
    let (Some(rearm), Some(level)) = (alert.options.rearm, ConditionLevel::of(&alert.condition)) else {
        return false;
    };
    let metric = metrics(expression)[0];
    values
        .value(metric)
        .is_some_and(|value| level.is_rearm_level_reached(rearm, &value))
}

/// Returns the orders of the sides of each `crosses` at the last close before the first day.
fn crossings_at_last_close(alert: &Alert, stocks: &[Stock; 2], days: &[TradedDay]) -> Crossings {
    let histories = [stocks[0].history(), stocks[1].history()];
    let views = [0, 1].map(|stock: usize| StockInputs {
        price: histories[stock].last().map(|bar| bar.close),
        ..view(&stocks[stock], &histories[stock], days[0].date, TriggerPrice::Close)
    });
    let values = Values {
        views,
        basis: AlertBasis {
            initial_price: alert.initial_price,
            high_since_armed: None,
            low_since_armed: None,
            change_base: alert.options.base.in_expressions(),
        },
        observed: BTreeSet::new(),
    };
    let crossings = alert.lifecycle.as_deref().unwrap().crossings.clone();
    crossings.with_orders_at(expression_of(alert), &values)
}

pub(crate) fn firings(alert: &Alert, days: &[TradedDay]) -> Vec<Firing> {
    let calendar = Calendar::nyse();
    let expression = expression_of(alert);
    let mut stocks = [0, 1].map(|stock| Stock {
        bars: known_bars(stock),
        today: Vec::new(),
        last: None,
        last_at: None,
        volume: -1,
        book: None,
        vwap: None,
        extended: None,
    });
    let used: BTreeSet<usize> = symbols_of(expression).into_iter().map(place).collect();
    let has_extremes = metrics(expression)
        .iter()
        .any(|metric| matches!(metric.metric, Metric::HighSinceArmed | Metric::LowSinceArmed));
    let mut state = alert.lifecycle.as_deref().unwrap().clone();
    let trigger = alert.options.trigger;
    if trigger == TriggerPrice::Close {
        state.crossings = crossings_at_last_close(alert, &stocks, days);
        let last_close = stocks[0].bars.last().map(|bar| ArmedExtremes::new(bar.close));
        state.extremes = last_close.filter(|_| has_extremes);
    }
    let mut previous_price = None;
    let mut firings = Vec::new();
    for day in days {
        let closing = (day.close, Vec::new());
        let closing = (trigger == TriggerPrice::Close).then_some(&closing);
        let judges_extended = alert.options.session == SessionScope::Extended && trigger != TriggerPrice::Close;
        let judged = day.snapshots.iter().filter(|(now, _)| judges_extended || day.has(*now));
        for (now, seen) in judged.chain(closing) {
            let mut session = day.date;
            if *now > day.close {
                session = calendar.next_session_after(day.date).unwrap().date;
                stocks.iter_mut().for_each(|stock| stock.complete(day.date));
            }
            let extended = (!day.has(*now)).then_some(session);
            for observed in seen {
                stocks[observed.stock].observe(observed, *now, extended);
            }
            let mut observed: BTreeSet<usize> = seen.iter().map(|observed| observed.stock).collect();
            if trigger == TriggerPrice::Close {
                let is_current = |at: Timestamp| now.duration_since(at) <= SignedDuration::from_mins(15);
                if *now != day.close || !used.iter().all(|&stock| stocks[stock].last_at.is_some_and(is_current)) {
                    continue;
                }
                observed.clone_from(&used);
            }
            if observed.is_disjoint(&used) {
                continue;
            }
            let histories = [stocks[0].history(), stocks[1].history()];
            let views = [0, 1].map(|stock| view(&stocks[stock], &histories[stock], day.date, trigger));
            let price = views[0].price.filter(|_| has_extremes);
            let observation = Observation {
                at: *now,
                is_new: true,
                price,
                previous_price,
            };
            let mut prepared = state.prepared(&alert.options, &observation);
            let values = Values {
                views,
                basis: AlertBasis {
                    initial_price: alert.initial_price,
                    high_since_armed: prepared.extremes.map(|extremes| extremes.high()),
                    low_since_armed: prepared.extremes.map(|extremes| extremes.low()),
                    change_base: alert.options.base.in_expressions(),
                },
                observed,
            };
            let time = EvaluationTime {
                now: *now,
                session_close: calendar.session(session).unwrap().close,
            };
            let truth = evaluate(expression, &values, time, &mut prepared.crossings);
            let judgement = Judgement {
                observation,
                truth: truth.now,
                truth_after: truth.afterwards,
                is_rearm_level_reached: is_rearmed(alert, expression, &values),
            };
            let stepped = step(&alert.options, &calendar, &prepared, &judgement);
            state = stepped.next;
            previous_price = price;
            if let Outcome::Fire { is_last, .. } = stepped.outcome {
                firings.push((*now, is_last));
                if is_last {
                    return firings;
                }
            }
        }
        for stock in &mut stocks {
            stock.complete(day.date);
        }
    }
    firings
}
