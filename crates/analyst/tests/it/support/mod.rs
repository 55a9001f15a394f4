//! Shared test support: generated sessions and assertions for sound advice.
#![allow(dead_code, unused_imports, reason = "each test uses what it needs")]

mod assertions;
mod oracle;

pub(crate) use assertions::assert_sound;
pub(crate) use oracle::{fired, fires_at_once};

use alerts::Plan;
use alerts::engine::Dividend;
use alerts::request::ParseContext;
use analyst::{AnalysisSubject, Intention};
use jiff::Timestamp;
use jiff::civil::{Date, date};
use jiff::tz::TimeZone;
use market::{Bar, Calendar, History, Price, Session, Symbol};

/// A stock with all inputs of an analysis.
#[derive(Clone, Debug)]
pub(crate) struct Fixture {
    pub(crate) symbol: Symbol,
    pub(crate) bars: Vec<Bar>,
    pub(crate) history: History,
    pub(crate) price: Price,
    pub(crate) target_price: Option<Price>,
    pub(crate) session_volume: Option<i64>,
    pub(crate) earnings: Vec<Date>,
    pub(crate) dividends: Vec<Dividend>,
    pub(crate) plan: Plan,
    pub(crate) active_alerts: u32,
    pub(crate) now: Timestamp,
    pub(crate) calendar: Calendar,
    pub(crate) time_zone: TimeZone,
}

impl Fixture {
    /// A premium account that analyses a stock at the open of the session after its last bar, at the last close.
    pub(crate) fn of(bars: Vec<Bar>) -> Self {
        let calendar = Calendar::nyse();
        let last = bars.last().map_or(date(2023, 1, 3), |bar| bar.date);
        let mut history = History::default();
        for &bar in &bars {
            history.record(bar).unwrap();
        }
        Self {
            symbol: "TEST".parse().unwrap(),
            price: bars.last().map_or_else(|| price("10"), |bar| bar.close),
            bars,
            history,
            target_price: None,
            session_volume: None,
            earnings: Vec::new(),
            dividends: Vec::new(),
            plan: Plan::Premium,
            active_alerts: 0,
            now: calendar.next_session_after(last).unwrap().open,
            calendar,
            time_zone: TimeZone::UTC,
        }
    }

    pub(crate) fn subject(&self, intention: Intention) -> AnalysisSubject<'_> {
        AnalysisSubject {
            symbol: self.symbol,
            intention,
            price: self.price,
            target_price: self.target_price,
            history: &self.history,
            session_volume: self.session_volume,
            earnings: &self.earnings,
            dividends: &self.dividends,
            plan: self.plan,
            active_alerts: self.active_alerts,
            context: ParseContext {
                now: self.now,
                time_zone: &self.time_zone,
                calendar: &self.calendar,
            },
        }
    }
}

pub(crate) fn price(text: &str) -> Price {
    text.parse().unwrap()
}

/// The first `count` sessions from 2021 on.
pub(crate) fn sessions(count: usize) -> Vec<Session> {
    Calendar::nyse()
        .sessions(date(2021, 1, 4), Date::MAX)
        .take(count)
        .collect()
}

/// Bars that move from close to close, in millionths of a dollar; each extends `beyond` both of its prices.
pub(crate) fn bars(closes: &[i64], beyond: &[i64], volumes: &[i64]) -> Vec<Bar> {
    let price = |micros: i64| Price::from_micros(micros.clamp(1, market::price::MAX_PRICE_MICROS)).unwrap();
    let days = sessions(closes.len());
    let bars = (0..closes.len()).map(|day| {
        let (open, close) = (closes[day.saturating_sub(1)], closes[day]);
        let reach = beyond[day % beyond.len()];
        Bar {
            date: days[day].date,
            open: price(open),
            high: price(open.max(close).saturating_add(reach)),
            low: price(open.min(close).saturating_sub(reach)),
            close: price(close),
            volume: volumes[day % volumes.len()],
        }
        .checked()
        .unwrap()
    });
    bars.collect()
}
