//! The performance of an account's trades over a range, next to a benchmark.

use std::fmt;
use std::str::FromStr;

use jiff::ToSpan;
use jiff::civil::Date;
use market::Symbol;

use crate::closes::Closes;
use crate::events::Events;
use crate::holding::Holding;
use crate::tracker::DayReturn;
use crate::trade::NOTIONAL;

/// How far back.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Range {
    /// Three months.
    ThreeMonths,
    /// Six months.
    SixMonths,
    /// A year.
    Year,
    /// To the first trade.
    #[default]
    Max,
}

/// A text that names no range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is no range; it is 3m, 6m, 1y or max")]
pub struct UnknownRange;

impl Range {
    /// All ranges.
    pub const ALL: [Self; 4] = [Self::ThreeMonths, Self::SixMonths, Self::Year, Self::Max];

    /// `3m`, `6m`, `1y` or `max`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ThreeMonths => "3m",
            Self::SixMonths => "6m",
            Self::Year => "1y",
            Self::Max => "max",
        }
    }

    /// The first day that lies in the range: so many calendar months before `today`, on the last day of the month where
    /// it has no such day.
    #[must_use]
    pub fn start(self, today: Date) -> Date {
        let months = match self {
            Self::ThreeMonths => 3,
            Self::SixMonths => 6,
            Self::Year => 12,
            Self::Max => return Date::MIN,
        };
        today.saturating_sub(months.months())
    }
}

impl FromStr for Range {
    type Err = UnknownRange;

    fn from_str(text: &str) -> Result<Self, UnknownRange> {
        let mut all = Self::ALL.into_iter();
        all.find(|range| range.as_str() == text).ok_or(UnknownRange)
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A day of a series.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Point {
    /// The session.
    pub date: Date,
    /// What 100 at the close of the first day have become.
    pub value: f64,
}

/// What trades are compared with.
#[derive(Clone, Copy, Debug)]
pub struct Benchmark<'a> {
    /// Its symbol.
    pub symbol: Symbol,
    /// Its closes, as traded.
    pub closes: &'a Closes,
    /// Its splits and dividends. With its dividends both sides are counted alike; without them it is its price.
    pub events: &'a Events,
}

/// What came of it, in percent.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Summary {
    /// The return on the trades.
    pub watchlist_return_pct: f64,
    /// The benchmark's return; `None` when it has no close of the first day or before.
    pub benchmark_return_pct: Option<f64>,
    /// By how many percentage points the trades did better.
    pub alpha_pct: Option<f64>,
}

/// The performance over a range.
#[derive(Clone, PartialEq, Debug)]
pub struct Performance {
    /// The range.
    pub range: Range,
    /// The first day; `None` without trades.
    pub base_date: Option<Date>,
    /// The trades, 100 on the first day.
    pub watchlist: Vec<Point>,
    /// The benchmark on the same days, 100 on the first; empty when it has no close of the first day or before.
    pub benchmark: Vec<Point>,
    /// What came of it.
    pub summary: Summary,
}

/// The performance of some trades over a range.
///
/// `returns` are the answers of a [`crate::Tracker`] in order, from the session of the first trade on, or at least
/// those of the range. The first of them in the range is the first day: its own return lies before the 100 and is not
/// counted. A loss of everything or more (shorts can) ends a series at zero, for good.
#[must_use]
pub fn performance(range: Range, today: Date, returns: &[DayReturn], benchmark: Benchmark<'_>) -> Performance {
    let start = range.start(today);
    let within: Vec<&DayReturn> = returns
        .iter()
        .filter(|day| start <= day.date && day.date <= today)
        .collect();
    let dates: Vec<Date> = within.iter().map(|day| day.date).collect();
    let watchlist = chain(&dates, within.iter().map(|day| day.value));
    let benchmark = chain(&dates, follow(benchmark, &dates));
    let gain = |series: &[Point]| series.last().map(|point| point.value - 100.0);
    let (ours, theirs) = (gain(&watchlist).unwrap_or_default(), gain(&benchmark));
    Performance {
        range,
        base_date: dates.first().copied(),
        watchlist,
        benchmark,
        summary: Summary {
            watchlist_return_pct: ours,
            benchmark_return_pct: theirs,
            alpha_pct: theirs.map(|theirs| ours - theirs),
        },
    }
}

/// 100 on the first day, and from there on what the days' returns make of it.
fn chain(dates: &[Date], returns: impl Iterator<Item = f64>) -> Vec<Point> {
    let mut level = 100.0;
    let mut series = Vec::with_capacity(dates.len());
    for (day, (date, value)) in dates.iter().zip(returns).enumerate() {
        if day > 0 {
            level *= (1.0 + value).max(0.0);
        }
        series.push(Point {
            date: *date,
            value: level,
        });
    }
    series
}

/// The benchmark's returns on some days, as those of a holding; none at all without a close to start from.
fn follow<'a>(benchmark: Benchmark<'a>, dates: &'a [Date]) -> impl Iterator<Item = f64> + 'a {
    let Benchmark { symbol, closes, events } = benchmark;
    let start = dates.first().and_then(|first| closes.at_or_before(*first));
    let holding = start.and_then(|(seen_on, close)| Some((seen_on, Holding::bought(NOTIONAL, close).ok()?)));
    let mut holding = holding;
    dates.iter().map_while(move |date| {
        let (taken_through, held) = holding.as_mut()?;
        let worth = held.value();
        let paid: f64 = events
            .between_closes(symbol, *taken_through, *date)
            .map(|event| held.take(event))
            .sum();
        *taken_through = *date;
        if let Some(close) = closes.on(*date) {
            held.see(close);
        }
        Some((held.value() - worth + paid) / worth)
    })
}
