//! The schedule of requests for all data except the prices of the session.

use jiff::civil::{Date, Time, time};
use jiff::{SignedDuration, Span, Timestamp, ToSpan};
use market::calendar::{new_york, new_york_date};
use market::{Calendar, Symbol};

use crate::provider::{Capability, DataRequest, DateRange};
use crate::routing::ProviderRouter;

/// The days of bars that are requested for a newly watched stock: enough for all averages and the RSI, and for charts of
/// five years.
const BAR_HISTORY_DAYS: i64 = 5 * 366;
/// The days of known bars that are requested again, because providers correct them.
const REFETCHED_BAR_DAYS: i64 = 7;
/// The days ahead for which earnings, dividends and splits are requested.
const EVENT_LOOKAHEAD_DAYS: i64 = 120;
/// The past days for which dividends are requested, for paper trades and yields.
const DIVIDEND_HISTORY_DAYS: i64 = 400;
/// The past days for which insider filings of a newly watched stock are requested.
const INSIDER_HISTORY_DAYS: i64 = 366;
/// The past days for which filings are requested otherwise, to include amendments.
const FILING_LOOKBACK_DAYS: i64 = 10;
/// The time after a session's close at which its bar is available.
const BAR_AVAILABLE_AFTER: SignedDuration = SignedDuration::from_mins(20);
/// The time of the second daily request for splits and dates, in New York: before the session opens.
const MORNING_FETCH_AT: Time = time(8, 45, 0, 0);
/// The maximum number of stocks in a request. It limits the cost of a failure.
const MAX_STOCKS_PER_REQUEST: usize = 200;

/// A kind of data that can be requested at any time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RefreshKind {
    /// The catalog of stocks.
    Catalog,
    /// Daily bars, with the splits since.
    Bars,
    /// Fundamentals.
    Fundamentals,
    /// Splits, dividends and earnings.
    Events,
}

/// A reason to send requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FetchTrigger {
    /// Newly watched stocks, whose history is needed.
    NewStocks,
    /// A new hour: mentions and filings.
    Hourly,
    /// Before the open: the day's splits and dates.
    Morning,
    /// After the close: all data.
    Nightly,
    /// An explicit request.
    Requested(RefreshKind),
}

impl FetchTrigger {
    /// Returns the requested capabilities in order. Splits come before bars, because bars depend on them.
    const fn capabilities(self) -> &'static [Capability] {
        match self {
            Self::NewStocks => &[
                Capability::Splits,
                Capability::DailyBars,
                Capability::Fundamentals,
                Capability::Earnings,
                Capability::Dividends,
                Capability::InsiderTrades,
                Capability::Mentions,
            ],
            Self::Hourly => &[Capability::Mentions, Capability::InsiderTrades],
            Self::Morning => &[Capability::Splits, Capability::Dividends, Capability::Earnings],
            Self::Nightly => &[
                Capability::Catalog,
                Capability::Splits,
                Capability::DailyBars,
                Capability::Benchmark,
                Capability::Fundamentals,
                Capability::Earnings,
                Capability::Dividends,
                Capability::InsiderTrades,
            ],
            Self::Requested(RefreshKind::Catalog) => &[Capability::Catalog],
            Self::Requested(RefreshKind::Bars) => &[Capability::Splits, Capability::DailyBars, Capability::Benchmark],
            Self::Requested(RefreshKind::Fundamentals) => &[Capability::Fundamentals],
            Self::Requested(RefreshKind::Events) => Self::Morning.capabilities(),
        }
    }
}

/// Returns the requests for stocks of which only splits are needed.
pub(super) fn splits_only(trigger: FetchTrigger, symbols: &[Symbol], now: Timestamp) -> Vec<DataRequest> {
    if trigger.capabilities().contains(&Capability::Splits) {
        splits(trigger, symbols, now)
    } else {
        Vec::new()
    }
}

fn splits(trigger: FetchTrigger, symbols: &[Symbol], now: Timestamp) -> Vec<DataRequest> {
    let back = match trigger {
        FetchTrigger::NewStocks => BAR_HISTORY_DAYS,
        _ => REFETCHED_BAR_DAYS,
    };
    let days = days_around(new_york_date(now), back, EVENT_LOOKAHEAD_DAYS);
    let chunks = symbols.chunks(MAX_STOCKS_PER_REQUEST);
    chunks
        .map(|symbols| DataRequest::Splits(symbols.to_vec(), days))
        .collect()
}

/// The stocks of a request, and their known data.
pub(super) struct FetchScope<'a> {
    /// The stocks, the most watched first.
    pub(super) symbols: &'a [Symbol],
    /// Returns the last known bar of a stock.
    pub(super) last_bar: &'a dyn Fn(Symbol) -> Option<Date>,
    /// The benchmark that portfolios are compared with.
    pub(super) benchmark: Symbol,
}

/// Returns the requests of a trigger, for the capabilities that have a provider.
pub(super) fn requests_for(
    trigger: FetchTrigger,
    router: &ProviderRouter,
    scope: &FetchScope<'_>,
    calendar: &Calendar,
    now: Timestamp,
) -> Vec<DataRequest> {
    let wanted = trigger
        .capabilities()
        .iter()
        .copied()
        .filter(|&capability| router.offers(capability));
    wanted
        .flat_map(|capability| requests_for_capability(capability, trigger, scope, calendar, now))
        .collect()
}

fn requests_for_capability(
    capability: Capability,
    trigger: FetchTrigger,
    scope: &FetchScope<'_>,
    calendar: &Calendar,
    now: Timestamp,
) -> Vec<DataRequest> {
    let today = new_york_date(now);
    let filings = match trigger {
        FetchTrigger::NewStocks => INSIDER_HISTORY_DAYS,
        _ => FILING_LOOKBACK_DAYS,
    };
    let per_chunk = |request: &dyn Fn(Vec<Symbol>) -> DataRequest| {
        let chunks = scope.symbols.chunks(MAX_STOCKS_PER_REQUEST);
        chunks.map(|symbols| request(symbols.to_vec())).collect()
    };
    match capability {
        Capability::Catalog => vec![DataRequest::Catalog],
        Capability::Benchmark => {
            let bars = bar_days(Some(scope.benchmark), scope, calendar, now);
            bars.map(|days| DataRequest::Benchmark(scope.benchmark, days))
                .into_iter()
                .collect()
        }
        Capability::DailyBars => daily_bars(scope, calendar, now),
        Capability::Fundamentals => per_chunk(&DataRequest::Fundamentals),
        Capability::Mentions => per_chunk(&DataRequest::Mentions),
        Capability::Earnings => {
            per_chunk(&|symbols| DataRequest::Earnings(symbols, days_around(today, 0, EVENT_LOOKAHEAD_DAYS)))
        }
        Capability::Dividends => per_chunk(&|symbols| {
            DataRequest::Dividends(symbols, days_around(today, DIVIDEND_HISTORY_DAYS, EVENT_LOOKAHEAD_DAYS))
        }),
        Capability::Splits => splits(trigger, scope.symbols, now),
        Capability::InsiderTrades => {
            per_chunk(&|symbols| DataRequest::InsiderTrades(symbols, days_around(today, filings, 0)))
        }
        // Other tasks request prices.
        Capability::Quotes | Capability::Stream | Capability::MinuteBars => Vec::new(),
    }
}

/// Returns the requests for daily bars. Stocks with the same last bar share a request.
fn daily_bars(scope: &FetchScope<'_>, calendar: &Calendar, now: Timestamp) -> Vec<DataRequest> {
    let mut by_days: Vec<(DateRange, Vec<Symbol>)> = Vec::new();
    for &symbol in scope.symbols {
        let Some(days) = bar_days(Some(symbol), scope, calendar, now) else {
            continue;
        };
        match by_days.iter_mut().find(|(known, _)| *known == days) {
            Some((_, symbols)) => symbols.push(symbol),
            None => by_days.push((days, vec![symbol])),
        }
    }
    let chunks = by_days.iter().flat_map(|(days, symbols)| {
        let chunks = symbols.chunks(MAX_STOCKS_PER_REQUEST);
        chunks.map(|symbols| DataRequest::DailyBars(symbols.to_vec(), *days))
    });
    chunks.collect()
}

/// Returns the range from the first day whose bar may be new to the last day that has one.
fn bar_days(symbol: Option<Symbol>, scope: &FetchScope<'_>, calendar: &Calendar, now: Timestamp) -> Option<DateRange> {
    let today = new_york_date(now);
    let known = symbol.and_then(|symbol| (scope.last_bar)(symbol));
    let from = match known {
        Some(last) => last.saturating_sub(REFETCHED_BAR_DAYS.days()),
        None => today.saturating_sub(BAR_HISTORY_DAYS.days()),
    };
    let is_available = |close: Timestamp| {
        close
            .saturating_add(BAR_AVAILABLE_AFTER)
            .is_ok_and(|available_at| available_at <= now)
    };
    let todays_session = calendar.session(today).filter(|session| is_available(session.close));
    let last = todays_session.or_else(|| calendar.previous_session_before(today))?;
    (from <= last.date).then_some(DateRange { from, to: last.date })
}

fn days_around(today: Date, before: i64, after: i64) -> DateRange {
    DateRange {
        from: today.saturating_sub(Span::new().days(before)),
        to: today.saturating_add(Span::new().days(after)),
    }
}

/// The next time of each scheduled trigger.
#[derive(Debug)]
pub(super) struct FetchSchedule {
    nightly_at: Time,
    due: [(FetchTrigger, Timestamp); 3],
}

impl FetchSchedule {
    pub(super) fn of(now: Timestamp, nightly_at: Time) -> Self {
        let triggers = [FetchTrigger::Hourly, FetchTrigger::Morning, FetchTrigger::Nightly];
        Self {
            nightly_at,
            due: triggers.map(|trigger| (trigger, next_after(trigger, now, nightly_at))),
        }
    }

    /// Returns the time of the next trigger.
    pub(super) fn next(&self) -> Timestamp {
        self.due.iter().map(|(_, at)| *at).min().unwrap_or(Timestamp::MAX)
    }

    /// Returns the triggers that are due. A trigger that was missed several times is returned once.
    pub(super) fn take_due(&mut self, now: Timestamp) -> Vec<FetchTrigger> {
        let mut taken = Vec::new();
        for (trigger, at) in &mut self.due {
            let next = next_after(*trigger, now, self.nightly_at);
            if *at <= now {
                taken.push(*trigger);
                *at = next;
            }
            // A trigger that was scheduled by a clock that was ahead would be late.
            *at = next.min(*at);
        }
        taken
    }
}

/// Returns the next time of a trigger after `now`.
fn next_after(trigger: FetchTrigger, now: Timestamp, nightly_at: Time) -> Timestamp {
    let today = new_york_date(now);
    let daily = |time: Time| {
        let days = [today, today.saturating_add(1.day())];
        let at = |date: Date| new_york(date, time.hour(), time.minute());
        days.into_iter().map(at).find(|&next| next > now)
    };
    let hour = SignedDuration::from_hours(1).as_secs();
    let next = match trigger {
        FetchTrigger::Hourly => Timestamp::from_second((now.as_second().div_euclid(hour) + 1) * hour).ok(),
        FetchTrigger::Morning => daily(MORNING_FETCH_AT),
        FetchTrigger::Nightly => daily(nightly_at),
        // These triggers are not scheduled.
        FetchTrigger::NewStocks | FetchTrigger::Requested(_) => None,
    };
    next.unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triggers_due_at_the_same_time_are_returned_once() {
        let at = |text: &str| -> Timestamp { text.parse().unwrap() };
        // 18:00 in New York.
        let mut table = FetchSchedule::of(at("2024-03-08T22:30:00Z"), time(18, 0, 0, 0));
        assert_eq!(table.next(), at("2024-03-08T23:00:00Z"));
        assert_eq!(table.take_due(at("2024-03-08T22:59:59Z")), []);
        let due = table.take_due(at("2024-03-08T23:00:00Z"));
        assert_eq!(due, [FetchTrigger::Hourly, FetchTrigger::Nightly]);
        assert_eq!(table.take_due(at("2024-03-08T23:00:01Z")), []);
    }

    #[test]
    fn missed_triggers_are_returned_later() {
        let at = |text: &str| -> Timestamp { text.parse().unwrap() };
        let mut table = FetchSchedule::of(at("2024-03-08T22:50:00Z"), time(18, 30, 0, 0));
        let due = table.take_due(at("2024-03-09T01:35:00Z"));
        assert_eq!(due, [FetchTrigger::Hourly, FetchTrigger::Nightly]);
        // 08:45 in New York on the next morning.
        assert_eq!(
            table.take_due(at("2024-03-09T13:45:00Z")),
            [FetchTrigger::Hourly, FetchTrigger::Morning]
        );
    }

    #[test]
    fn fast_clock_does_not_postpone_triggers() {
        let at = |text: &str| -> Timestamp { text.parse().unwrap() };
        let mut table = FetchSchedule::of(at("2024-03-10T22:50:00Z"), time(18, 30, 0, 0));
        // The clock is set back by two days.
        assert_eq!(table.take_due(at("2024-03-08T22:50:00Z")), []);
        assert_eq!(table.next(), at("2024-03-08T23:00:00Z"));
        assert_eq!(
            table.take_due(at("2024-03-08T23:30:00Z")),
            [FetchTrigger::Hourly, FetchTrigger::Nightly]
        );
    }
}
