//! A naive evaluator of alerts, as a reference for the engine.
//!
//! It keeps all events in plain lists and evaluates every alert from scratch at every observation and clock event: no index, no
//! running sum, no band, only raw data. It is slow and simple on purpose, so that it reads as the definition.
//!
//! [`figures`] defines the measured figures, [`record`] the data of a stock, [`dates`] the alerts on the clock and on facts,
//! [`rules`] the conditions that have options and are no expressions, and this module the times of evaluation.

pub(crate) mod dates;
pub(crate) mod figures;
pub(crate) mod record;
pub(crate) mod rules;

use std::collections::BTreeMap;

use alerts::condition::{Condition, RsiDirection, Side};
use alerts::engine::{Dividend, EngineConfig, InsiderTrade};
use alerts::{Alert, AlertId, Revision, Status};
use jiff::Timestamp;
use jiff::civil::Date;
use market::{Bar, Calendar, Decimal, Price, SplitRatio, Symbol};

use record::{Observation, Record};

/// An event, for the oracle and the engine alike.
#[derive(Clone, Debug)]
pub(crate) enum OwnedEvent {
    Snapshot(Vec<TestQuote>),
    Bar(Symbol, Bar),
    Split(Symbol, SplitRatio),
    /// Trailing and forward earnings per share.
    Fundamentals(Symbol, [Option<Decimal>; 2]),
    Earnings(Symbol, Vec<Date>),
    Dividends(Symbol, Vec<Dividend>),
    Insiders(Symbol, Vec<InsiderTrade>),
    /// All known trades. They replace the previous ones.
    InsiderTradesReplaced(Symbol, Vec<InsiderTrade>),
    Mentions(Symbol, Timestamp, u32),
    Clock,
    Evaluate,
    Armed(Box<Alert>),
    Disarmed(AlertId),
}

/// One observation of one stock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TestQuote {
    pub(crate) symbol: Symbol,
    pub(crate) price: Price,
    pub(crate) volume: Option<i64>,
}

/// A decision about an alert.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Outcome {
    pub(crate) at: Timestamp,
    pub(crate) alert: AlertId,
    pub(crate) revision: Revision,
    pub(crate) kind: OutcomeKind,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum OutcomeKind {
    Fired {
        price: Option<Price>,
    },
    Adjusted {
        threshold: Option<Price>,
        initial_price: Option<Price>,
    },
}

/// An armed alert.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    pub(crate) alert: Alert,
    /// The side that an RSI alert for both directions waits for, once it is known.
    other_side: Option<Side>,
    /// Whether the insider trades from before its arming were evaluated.
    evaluated_trades: bool,
    /// The time at which a date alert was armed, or its facts arrived, if the condition held then and the day's instant had
    /// passed.
    held_at: Option<Timestamp>,
}

/// The trigger of an evaluation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trigger {
    /// A new observation.
    NewObservation,
    /// The last observation, evaluated again.
    LastObservation,
}

pub(crate) struct Oracle {
    calendar: Calendar,
    records: BTreeMap<Symbol, Record>,
    watched: Vec<Watched>,
    rules: Vec<rules::WatchedRule>,
    clock: Timestamp,
    /// The bars that were made of observations, in order of their creation.
    pub(crate) made: Vec<(Symbol, Bar)>,
}

impl Oracle {
    pub(crate) fn new(calendar: Calendar) -> Self {
        Self {
            calendar,
            records: BTreeMap::new(),
            watched: Vec::new(),
            rules: Vec::new(),
            clock: Timestamp::MIN,
            made: Vec::new(),
        }
    }

    /// Returns the armed alerts, adjusted for splits.
    pub(crate) fn armed(&self) -> impl Iterator<Item = &Alert> {
        let watched = self.watched.iter().map(|watched| &watched.alert);
        watched.chain(self.rules.iter().map(|rule| &rule.alert))
    }

    pub(crate) fn clock(&self) -> Timestamp {
        self.clock
    }

    /// Processes an event at `now` and returns the decisions.
    pub(crate) fn process(&mut self, event: &OwnedEvent, now: Timestamp) -> Vec<Outcome> {
        let since = self.clock;
        let mut outcomes = match event {
            OwnedEvent::Snapshot(seen) => seen.iter().flat_map(|seen| self.observe(seen, now)).collect(),
            OwnedEvent::Bar(symbol, bar) => {
                self.complete(*symbol, *bar, now);
                Vec::new()
            }
            OwnedEvent::Split(symbol, ratio) => self.split(*symbol, *ratio, now),
            OwnedEvent::Fundamentals(symbol, eps) => {
                self.record(*symbol).eps = *eps;
                Vec::new()
            }
            OwnedEvent::Earnings(symbol, dates) => {
                self.record(*symbol).earnings.clone_from(dates);
                self.dates_changed(*symbol, now);
                Vec::new()
            }
            OwnedEvent::Dividends(symbol, dividends) => {
                self.record(*symbol).dividends.clone_from(dividends);
                self.dates_changed(*symbol, now);
                Vec::new()
            }
            OwnedEvent::Insiders(symbol, trades) => {
                self.record(*symbol).trades.extend(trades.iter().cloned());
                self.evaluate_insiders(|watched| watched.alert.symbol == *symbol, now)
            }
            OwnedEvent::InsiderTradesReplaced(symbol, trades) => {
                self.record(*symbol).trades.clone_from(trades);
                self.evaluate_insiders(|watched| watched.alert.symbol == *symbol, now)
            }
            OwnedEvent::Mentions(symbol, hour, count) => self.mentioned(*symbol, *hour, *count, now),
            OwnedEvent::Clock => self.advance_clock(now),
            OwnedEvent::Evaluate => self.evaluate(now),
            OwnedEvent::Armed(alert) => {
                self.arm(alert);
                Vec::new()
            }
            OwnedEvent::Disarmed(id) => {
                self.disarm(*id);
                Vec::new()
            }
        };
        outcomes.extend(self.judge_rules(event, since, now));
        outcomes.sort_unstable();
        outcomes
    }

    fn disarm(&mut self, id: AlertId) {
        self.watched.retain(|watched| watched.alert.id != id);
        self.rules.retain(|rule| rule.alert.id != id);
    }

    fn record(&mut self, symbol: Symbol) -> &mut Record {
        self.records.entry(symbol).or_default()
    }

    fn arm(&mut self, alert: &Alert) {
        self.disarm(alert.id);
        if alert.status == Status::Active && rules::is_direct_rule(alert) {
            self.arm_rule(alert);
        } else if alert.status == Status::Active {
            let current_rsi = self.record(alert.symbol).current_rsi();
            let mut watched = Watched {
                alert: alert.clone(),
                other_side: current_rsi.and_then(|rsi| other_side(&alert.condition, rsi)),
                evaluated_trades: false,
                held_at: None,
            };
            let armed_at = alert.armed_at.max(self.clock);
            self.evaluate_date_now(&mut watched, armed_at);
            self.watched.push(watched);
        }
    }

    /// Records and evaluates an observation. It counts while the regular session is open and no bar has completed it.
    fn observe(&mut self, seen: &TestQuote, now: Timestamp) -> Vec<Outcome> {
        let Some(session) = self.calendar.session_at(now) else {
            return Vec::new();
        };
        let record = self.records.entry(seen.symbol).or_default();
        if record.is_completed(session.date) {
            return Vec::new();
        }
        let made = record.make_bars_before(session.date);
        self.made.extend(made.into_iter().map(|bar| (seen.symbol, bar)));
        record.observations.push(Observation {
            date: session.date,
            at: now,
            price: seen.price.micros(),
            volume: seen.volume,
        });
        self.evaluate_by_observation(seen.symbol, Trigger::NewObservation, now)
    }

    /// Evaluates alerts and data since the last observation of the open session against that observation, if it is not stale.
    fn evaluate(&mut self, now: Timestamp) -> Vec<Outcome> {
        let mut outcomes = self.evaluate_insiders(|watched| !watched.evaluated_trades, now);
        for symbol in self.fresh_symbols(now) {
            outcomes.extend(self.evaluate_by_observation(symbol, Trigger::LastObservation, now));
        }
        outcomes
    }

    /// Returns the stocks whose last observation belongs to the open session and is not stale.
    fn fresh_symbols(&self, now: Timestamp) -> Vec<Symbol> {
        let today = self.calendar.session_at(now).map(|session| session.date);
        let stale_after = EngineConfig::default().stale_after;
        let is_fresh = |record: &Record| {
            let last = record.observations.last();
            // The engine keeps whole seconds.
            let second = last.and_then(|last| Timestamp::from_second(last.at.as_second()).ok());
            second.is_some_and(|second| now.duration_since(second) <= stale_after)
        };
        let in_session = |record: &Record| {
            let last = record.observations.last().map(|last| last.date);
            last.is_some() && last == today && last.is_some_and(|date| !record.is_completed(date)) && is_fresh(record)
        };
        let fresh = self.records.iter().filter(|(_, record)| in_session(record));
        fresh.map(|(&symbol, _)| symbol).collect()
    }

    fn evaluate_by_observation(&mut self, symbol: Symbol, trigger: Trigger, now: Timestamp) -> Vec<Outcome> {
        let record = &self.records[&symbol];
        let (mut outcomes, mut kept) = (Vec::new(), Vec::new());
        for mut watched in std::mem::take(&mut self.watched) {
            if watched.alert.symbol == symbol && holds(&mut watched, record, trigger) {
                outcomes.push(fired(&watched.alert, record, now));
            } else {
                kept.push(watched);
            }
        }
        self.watched = kept;
        outcomes
    }

    /// Records a bar whose session has ended. It also completes the sessions before it.
    fn complete(&mut self, symbol: Symbol, bar: Bar, now: Timestamp) {
        let ended = if self.calendar.is_always_open() {
            bar.date < market::calendar::new_york_date(now)
        } else {
            self.calendar
                .session(bar.date)
                .is_some_and(|session| session.close <= now)
        };
        if ended {
            let made = self.record(symbol).make_bars_before(bar.date);
            self.made.extend(made.into_iter().map(|bar| (symbol, bar)));
            self.record(symbol).put_bar(bar);
        }
    }

    /// Adjusts the history, and the prices that alerts compare with, to new shares.
    fn split(&mut self, symbol: Symbol, ratio: SplitRatio, now: Timestamp) -> Vec<Outcome> {
        self.record(symbol).split(ratio);
        let mut outcomes = self.split_rules(symbol, ratio, now);
        for watched in self.watched.iter_mut().filter(|watched| watched.alert.symbol == symbol) {
            let alert = &mut watched.alert;
            let before = (alert.condition.clone(), alert.initial_price);
            if let Condition::Price { threshold, .. } = &mut alert.condition {
                *threshold = record::price_after_split(*threshold, ratio);
            }
            alert.initial_price = alert.initial_price.map(|price| record::price_after_split(price, ratio));
            if before != (alert.condition.clone(), alert.initial_price) {
                let threshold = match alert.condition {
                    Condition::Price { threshold, .. } => Some(threshold),
                    _ => None,
                };
                outcomes.push(Outcome {
                    at: now,
                    alert: alert.id,
                    revision: alert.revision,
                    kind: OutcomeKind::Adjusted {
                        threshold,
                        initial_price: alert.initial_price,
                    },
                });
                alert.revision = alert.revision.next();
            }
        }
        outcomes
    }
}

/// Returns the side that an RSI alert for both directions waits for, given an RSI.
fn other_side(condition: &Condition, rsi: i64) -> Option<Side> {
    match condition {
        Condition::Rsi {
            direction: RsiDirection::Both,
            threshold,
        } if rsi >= threshold.micros() => Some(Side::Below),
        Condition::Rsi {
            direction: RsiDirection::Both,
            ..
        } => Some(Side::Above),
        _ => None,
    }
}

/// Returns whether the condition holds at the stock's last observation.
fn holds(watched: &mut Watched, record: &Record, trigger: Trigger) -> bool {
    let Some(view) = record.view() else {
        return false;
    };
    let is_new = trigger == Trigger::NewObservation;
    match watched.alert.condition {
        Condition::Price { side, threshold } => figures::at_or_beyond(side, view.price, threshold.micros()),
        Condition::PriceChange { side, percent } => watched
            .alert
            .initial_price
            .is_some_and(|initial| figures::has_changed(&view, side, initial, percent)),
        Condition::NewExtreme { side } => is_new && figures::is_new_extreme(&view, side),
        Condition::MaCrossover { side } => figures::has_crossed(&view, side),
        Condition::MaTouch { side, period } => is_new && figures::touches(&view, side, period),
        Condition::Rsi { direction, threshold } => {
            let Some(rsi) = figures::rsi(&view) else {
                return false;
            };
            let side = match direction {
                RsiDirection::Above => Side::Above,
                RsiDirection::Below => Side::Below,
                RsiDirection::Both => {
                    // Without an RSI at arming, the first RSI determines the side.
                    watched.other_side = watched.other_side.or_else(|| other_side(&watched.alert.condition, rsi));
                    watched.other_side.expect("decided")
                }
            };
            figures::at_or_beyond(side, rsi, threshold.micros())
        }
        Condition::VolumeChange { baseline, percent } => figures::has_volume(&view, baseline, percent),
        Condition::PeRatio {
            side,
            earnings,
            threshold,
        } => figures::pe_is_beyond(&view, side, earnings, threshold),
        _ => false,
    }
}

fn fired(alert: &Alert, record: &Record, at: Timestamp) -> Outcome {
    let price = record
        .observations
        .last()
        .and_then(|last| Price::from_micros(last.price).ok());
    Outcome {
        at,
        alert: alert.id,
        revision: alert.revision,
        kind: OutcomeKind::Fired { price },
    }
}
