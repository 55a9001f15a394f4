//! The performance of an account's trades over a range, next to a benchmark.

use std::fmt;
use std::str::FromStr;

use jiff::ToSpan;
use jiff::civil::Date;

use crate::daily_closes::PriceHistory;
use crate::holding::Holding;
use crate::return_tracker::DayReturn;
use crate::trade::TRADE_NOTIONAL;

/// The range of a performance.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PerformanceRange {
    /// Three months.
    ThreeMonths,
    /// Six months.
    SixMonths,
    /// A year.
    Year,
    /// Since the first trade.
    #[default]
    Max,
}

/// A text that is not a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is not a range; use 3m, 6m, 1y or max")]
pub struct UnknownRangeError;

impl PerformanceRange {
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

    /// Returns the first day of the range: whole calendar months before `today`, on the last day of the month if it
    /// has no such day.
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

impl FromStr for PerformanceRange {
    type Err = UnknownRangeError;

    fn from_str(text: &str) -> Result<Self, UnknownRangeError> {
        let mut all = Self::ALL.into_iter();
        all.find(|range| range.as_str() == text).ok_or(UnknownRangeError)
    }
}

impl fmt::Display for PerformanceRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A point of a series.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SeriesPoint {
    /// The session.
    pub date: Date,
    /// The value of 100 invested at the close of the first day.
    pub value: f64,
}

/// The total returns, in percent.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ReturnSummary {
    /// The return on the trades.
    pub watchlist_return_pct: f64,
    /// The benchmark's return; `None` if it has no close on or before the first day.
    pub benchmark_return_pct: Option<f64>,
    /// The excess of the trades over the benchmark, in percentage points.
    pub alpha_pct: Option<f64>,
}

/// The performance over a range.
#[derive(Clone, PartialEq, Debug)]
pub struct Performance {
    /// The range.
    pub range: PerformanceRange,
    /// The first day; `None` without trades.
    pub base_date: Option<Date>,
    /// The value of the trades, 100 on the first day.
    pub watchlist: Vec<SeriesPoint>,
    /// The value of the benchmark on the same days, 100 on the first; empty if it has no close on or before the first
    /// day.
    pub benchmark: Vec<SeriesPoint>,
    /// The total returns.
    pub summary: ReturnSummary,
}

/// Computes the performance of trades over a range.
///
/// `returns` are the results of a [`crate::ReturnTracker`] in order, from the session of the first trade on, or at
/// least those of the range. The first of them in the range is the base day: its own return precedes the 100 and does
/// not count. A loss of 100 % or more (possible for shorts) ends a series at zero permanently.
#[must_use]
pub fn performance(
    range: PerformanceRange,
    today: Date,
    returns: &[DayReturn],
    benchmark: PriceHistory<'_>,
) -> Performance {
    let start = range.start(today);
    let within: Vec<&DayReturn> = returns
        .iter()
        .filter(|day| start <= day.date && day.date <= today)
        .collect();
    let dates: Vec<Date> = within.iter().map(|day| day.date).collect();
    let watchlist = chained(&dates, within.iter().map(|day| day.value));
    let benchmark = chained(&dates, benchmark_returns(benchmark, &dates));
    let gain = |series: &[SeriesPoint]| series.last().map(|point| point.value - 100.0);
    let (ours, theirs) = (gain(&watchlist).unwrap_or_default(), gain(&benchmark));
    Performance {
        range,
        base_date: dates.first().copied(),
        watchlist,
        benchmark,
        summary: ReturnSummary {
            watchlist_return_pct: ours,
            benchmark_return_pct: theirs,
            alpha_pct: theirs.map(|theirs| ours - theirs),
        },
    }
}

/// Chains daily returns, starting with 100 on the first day.
fn chained(dates: &[Date], returns: impl Iterator<Item = f64>) -> Vec<SeriesPoint> {
    let mut level = 100.0;
    let mut series = Vec::with_capacity(dates.len());
    for (day, (date, value)) in dates.iter().zip(returns).enumerate() {
        if day > 0 {
            level *= (1.0 + value).max(0.0);
        }
        series.push(SeriesPoint {
            date: *date,
            value: level,
        });
    }
    series
}

/// Returns the benchmark's daily returns, computed as for a holding; none without a close to start from.
fn benchmark_returns<'a>(benchmark: PriceHistory<'a>, dates: &'a [Date]) -> impl Iterator<Item = f64> + 'a {
    let PriceHistory {
        symbol,
        closes,
        actions,
    } = benchmark;
    let start = dates.first().and_then(|first| closes.at_or_before(*first));
    let mut holding = start.and_then(|(seen_on, close)| Some((seen_on, Holding::bought(TRADE_NOTIONAL, close).ok()?)));
    dates.iter().map_while(move |date| {
        let (taken_through, held) = holding.as_mut()?;
        let worth = held.value();
        let paid: f64 = actions
            .between_closes(symbol, *taken_through, *date)
            .map(|action| held.apply(action))
            .sum();
        *taken_through = *date;
        if let Some(close) = closes.on(*date) {
            held.mark_to(close);
        }
        Some((held.value() - worth + paid) / worth)
    })
}
