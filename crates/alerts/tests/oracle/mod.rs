//! A naive evaluator of alerts, to compare the engine with.
//!
//! It keeps everything it was ever told in plain lists and judges every alert anew at every observation and at every step of the
//! clock, from the definitions in section 2 of the decisions: no index, no running sum, no band, nothing remembered but raw
//! data. Slow and plain on purpose: it is to be read as the definition.
//!
//! [`figures`] has the definitions of what is measured, [`record`] what is remembered of a stock, [`dates`] what waits for the
//! clock or for facts, and this page what is judged when.

pub(crate) mod dates;
pub(crate) mod figures;
pub(crate) mod record;

use std::collections::BTreeMap;

use alerts::condition::{Condition, RsiDirection, Side};
use alerts::engine::{Dividend, InsiderTrade, Settings};
use alerts::{Alert, AlertId, Revision, Status};
use jiff::Timestamp;
use jiff::civil::Date;
use market::{Bar, Calendar, Decimal, Price, SplitRatio, Symbol};

use record::{Observation, Record};

/// What is told, to the oracle and to the engine alike.
#[derive(Clone, Debug)]
pub(crate) enum Told {
    Snapshot(Vec<Seen>),
    Bar(Symbol, Bar),
    Split(Symbol, SplitRatio),
    /// Trailing and forward earnings per share.
    Fundamentals(Symbol, [Option<Decimal>; 2]),
    Earnings(Symbol, Vec<Date>),
    Dividends(Symbol, Vec<Dividend>),
    Insiders(Symbol, Vec<InsiderTrade>),
    /// These and no others.
    InsidersAnew(Symbol, Vec<InsiderTrade>),
    Mentions(Symbol, Timestamp, u32),
    Clock,
    Evaluate,
    Armed(Alert),
    Disarmed(AlertId),
}

/// One observation of one stock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) symbol: Symbol,
    pub(crate) price: Price,
    pub(crate) volume: Option<i64>,
}

/// What is to be done about an alert.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Outcome {
    pub(crate) at: Timestamp,
    pub(crate) alert: AlertId,
    pub(crate) revision: Revision,
    pub(crate) what: What,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum What {
    Fired {
        price: Option<Price>,
    },
    Adjusted {
        threshold: Option<Price>,
        initial_price: Option<Price>,
    },
}

/// An alert that is judged.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    pub(crate) alert: Alert,
    /// Of an RSI alert for "the other side": which one that is, once it is known.
    other_side: Option<Side>,
    /// Whether insiders' trades of before it was armed were looked at.
    looked_at_trades: bool,
    /// When a date condition was armed, or its facts arrived, if it held then and the day's instant had passed.
    held_at: Option<Timestamp>,
}

/// What an alert is judged by.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    /// An observation that has just been made.
    NewObservation,
    /// The last observation, again.
    LastObservation,
}

pub(crate) struct Oracle {
    calendar: Calendar,
    records: BTreeMap<Symbol, Record>,
    watched: Vec<Watched>,
    clock: Timestamp,
    /// Bars that were made of observations, in the order in which that was.
    pub(crate) made: Vec<(Symbol, Bar)>,
}

impl Oracle {
    pub(crate) fn new(calendar: Calendar) -> Self {
        Self {
            calendar,
            records: BTreeMap::new(),
            watched: Vec::new(),
            clock: Timestamp::MIN,
            made: Vec::new(),
        }
    }

    /// The alerts that are judged, as splits have left them.
    pub(crate) fn armed(&self) -> impl Iterator<Item = &Alert> {
        self.watched.iter().map(|watched| &watched.alert)
    }

    pub(crate) fn clock(&self) -> Timestamp {
        self.clock
    }

    /// What is to be done when this is told at `now`.
    pub(crate) fn tell(&mut self, told: &Told, now: Timestamp) -> Vec<Outcome> {
        let mut outcomes = match told {
            Told::Snapshot(seen) => seen.iter().flat_map(|seen| self.observe(seen, now)).collect(),
            Told::Bar(symbol, bar) => {
                self.complete(*symbol, *bar, now);
                Vec::new()
            }
            Told::Split(symbol, ratio) => self.split(*symbol, *ratio, now),
            Told::Fundamentals(symbol, eps) => {
                self.record(*symbol).eps = *eps;
                Vec::new()
            }
            Told::Earnings(symbol, dates) => {
                self.record(*symbol).earnings.clone_from(dates);
                self.dates_changed(*symbol, now);
                Vec::new()
            }
            Told::Dividends(symbol, dividends) => {
                self.record(*symbol).dividends.clone_from(dividends);
                self.dates_changed(*symbol, now);
                Vec::new()
            }
            Told::Insiders(symbol, trades) => {
                self.record(*symbol).trades.extend(trades.iter().cloned());
                self.judge_insiders(|watched| watched.alert.symbol == *symbol, now)
            }
            Told::InsidersAnew(symbol, trades) => {
                self.record(*symbol).trades.clone_from(trades);
                self.judge_insiders(|watched| watched.alert.symbol == *symbol, now)
            }
            Told::Mentions(symbol, hour, count) => self.mentioned(*symbol, *hour, *count, now),
            Told::Clock => self.clock_strikes(now),
            Told::Evaluate => self.evaluate(now),
            Told::Armed(alert) => {
                self.arm(alert);
                Vec::new()
            }
            Told::Disarmed(id) => {
                self.watched.retain(|watched| watched.alert.id != *id);
                Vec::new()
            }
        };
        outcomes.sort_unstable();
        outcomes
    }

    fn record(&mut self, symbol: Symbol) -> &mut Record {
        self.records.entry(symbol).or_default()
    }

    fn arm(&mut self, alert: &Alert) {
        self.watched.retain(|watched| watched.alert.id != alert.id);
        if alert.status == Status::Active {
            let rsi_now = self.record(alert.symbol).rsi_now();
            let mut watched = Watched {
                alert: alert.clone(),
                other_side: rsi_now.and_then(|rsi| other_side(&alert.condition, rsi)),
                looked_at_trades: false,
                held_at: None,
            };
            let armed_at = alert.armed_at.max(self.clock);
            self.judge_date_at_once(&mut watched, armed_at);
            self.watched.push(watched);
        }
    }

    /// Observations count while the regular session is open, and until a bar has completed it.
    fn observe(&mut self, seen: &Seen, now: Timestamp) -> Vec<Outcome> {
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
        self.judge_by_observation(seen.symbol, By::NewObservation, now)
    }

    /// What was armed or became known since the last observation of the session that is open is judged by that observation, if
    /// it is not stale.
    fn evaluate(&mut self, now: Timestamp) -> Vec<Outcome> {
        let mut outcomes = self.judge_insiders(|watched| !watched.looked_at_trades, now);
        let today = self.calendar.session_at(now).map(|session| session.date);
        let stale_after = Settings::default().stale_after;
        let is_fresh = |record: &Record| {
            let last = record.observations.last();
            // The engine keeps the second.
            let second = last.and_then(|last| Timestamp::from_second(last.at.as_second()).ok());
            second.is_some_and(|second| now.duration_since(second) <= stale_after)
        };
        let in_session = |record: &Record| {
            let last = record.observations.last().map(|last| last.date);
            last.is_some() && last == today && last.is_some_and(|date| !record.is_completed(date)) && is_fresh(record)
        };
        let symbols: Vec<_> = self
            .records
            .iter()
            .filter(|(_, record)| in_session(record))
            .map(|(&symbol, _)| symbol)
            .collect();
        for symbol in symbols {
            outcomes.extend(self.judge_by_observation(symbol, By::LastObservation, now));
        }
        outcomes
    }

    fn judge_by_observation(&mut self, symbol: Symbol, by: By, now: Timestamp) -> Vec<Outcome> {
        let record = &self.records[&symbol];
        let (mut outcomes, mut kept) = (Vec::new(), Vec::new());
        for mut watched in std::mem::take(&mut self.watched) {
            if watched.alert.symbol == symbol && holds(&mut watched, record, by) {
                outcomes.push(fired(&watched.alert, record, now));
            } else {
                kept.push(watched);
            }
        }
        self.watched = kept;
        outcomes
    }

    /// A bar counts once its session has ended, and completes the sessions before it, too.
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

    /// From now on everything is per new share: the past, and the prices that alerts compare with.
    fn split(&mut self, symbol: Symbol, ratio: SplitRatio, now: Timestamp) -> Vec<Outcome> {
        self.record(symbol).split(ratio);
        let mut outcomes = Vec::new();
        for watched in self.watched.iter_mut().filter(|watched| watched.alert.symbol == symbol) {
            let alert = &mut watched.alert;
            let before = (alert.condition, alert.initial_price);
            if let Condition::Price { threshold, .. } = &mut alert.condition {
                *threshold = record::price_after_split(*threshold, ratio);
            }
            alert.initial_price = alert.initial_price.map(|price| record::price_after_split(price, ratio));
            if before != (alert.condition, alert.initial_price) {
                let threshold = match alert.condition {
                    Condition::Price { threshold, .. } => Some(threshold),
                    _ => None,
                };
                outcomes.push(Outcome {
                    at: now,
                    alert: alert.id,
                    revision: alert.revision,
                    what: What::Adjusted {
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

/// Which side an RSI alert for "the other side" waits for when the RSI is `rsi`.
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

/// Whether the condition holds at the stock's last observation.
fn holds(watched: &mut Watched, record: &Record, by: By) -> bool {
    let Some(view) = record.view() else {
        return false;
    };
    let is_new = by == By::NewObservation;
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
                    // If there was none when it was armed, the first RSI there is says which side is the other one.
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
        what: What::Fired { price },
    }
}
