//! When what is asked that is no price of the session.

use jiff::civil::{Date, Time, time};
use jiff::{SignedDuration, Span, Timestamp, ToSpan};
use market::calendar::{new_york, new_york_date};
use market::{Calendar, Symbol};

use crate::provider::{Ask, Capability, CapabilitySet, Days};

/// How far back the bars of a stock are asked for that is watched for the first time: enough for every average and for the
/// RSI, and five years of charts.
const BAR_DAYS: i64 = 5 * 366;
/// So many days of known bars are asked for again: providers correct them.
const CORRECTED_DAYS: i64 = 7;
/// How far ahead dates are asked for.
const AHEAD_DAYS: i64 = 120;
/// How far back dividends are asked for: paper trades and yields look back.
const DIVIDEND_DAYS: i64 = 400;
/// How far back insiders' filings are asked for of a stock that is watched for the first time.
const INSIDER_DAYS: i64 = 366;
/// How far back they are asked for otherwise: filings and their amendments.
const LATE_FILING_DAYS: i64 = 10;
/// How long after its close a session's bar is asked for at the earliest.
const BAR_IS_THERE: SignedDuration = SignedDuration::from_mins(20);
/// When splits and dates of the day are asked for once more, in New York: before anything is judged by them.
const MORNING: Time = time(8, 45, 0, 0);
/// A question names at most so many stocks, so that what fails costs no more.
const STOCKS_A_QUESTION: usize = 200;

/// What somebody wants to be asked for now, whatever time it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Matter {
    /// The catalog of stocks.
    Catalog,
    /// Daily bars, with the splits since.
    Bars,
    /// Fundamentals.
    Fundamentals,
    /// Splits, dividends and earnings.
    Events,
}

/// An occasion to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Occasion {
    /// Stocks are watched of which little may be known.
    Newcomers,
    /// A new hour: mentions, filings.
    Hourly,
    /// Before the open: the day's splits and dates.
    Morning,
    /// After the close: everything.
    Nightly,
    /// Somebody wants it.
    Wanted(Matter),
}

impl Occasion {
    /// What is asked for, in this order: splits before the bars that are counted in their shares.
    const fn capabilities(self) -> &'static [Capability] {
        match self {
            Self::Newcomers => &[
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
            Self::Wanted(Matter::Catalog) => &[Capability::Catalog],
            Self::Wanted(Matter::Bars) => &[Capability::Splits, Capability::DailyBars, Capability::Benchmark],
            Self::Wanted(Matter::Fundamentals) => &[Capability::Fundamentals],
            Self::Wanted(Matter::Events) => Self::Morning.capabilities(),
        }
    }
}

/// The requests for the splits of stocks of which nothing else is requested.
pub(super) fn splits_only(occasion: Occasion, symbols: &[Symbol], now: Timestamp) -> Vec<Ask> {
    if occasion.capabilities().contains(&Capability::Splits) {
        splits(occasion, symbols, now)
    } else {
        Vec::new()
    }
}

fn splits(occasion: Occasion, symbols: &[Symbol], now: Timestamp) -> Vec<Ask> {
    let back = match occasion {
        Occasion::Newcomers => BAR_DAYS,
        _ => CORRECTED_DAYS,
    };
    let days = around(new_york_date(now), back, AHEAD_DAYS);
    let chunks = symbols.chunks(STOCKS_A_QUESTION);
    chunks.map(|symbols| Ask::Splits(symbols.to_vec(), days)).collect()
}

/// Of whom what is known.
pub(super) struct Subject<'a> {
    /// The stocks, the most watched first.
    pub(super) symbols: &'a [Symbol],
    /// The last known bar of each.
    pub(super) last_bar: &'a dyn Fn(Symbol) -> Option<Date>,
    /// What everything is compared with.
    pub(super) benchmark: Symbol,
}

/// The questions of an occasion, as far as somebody is set for them.
pub(super) fn questions(
    occasion: Occasion,
    set: CapabilitySet,
    subject: &Subject<'_>,
    calendar: &Calendar,
    now: Timestamp,
) -> Vec<Ask> {
    let wanted = occasion
        .capabilities()
        .iter()
        .copied()
        .filter(|&capability| set.has(capability));
    wanted
        .flat_map(|capability| about(capability, occasion, subject, calendar, now))
        .collect()
}

fn about(
    capability: Capability,
    occasion: Occasion,
    subject: &Subject<'_>,
    calendar: &Calendar,
    now: Timestamp,
) -> Vec<Ask> {
    let today = new_york_date(now);
    let filings = match occasion {
        Occasion::Newcomers => INSIDER_DAYS,
        _ => LATE_FILING_DAYS,
    };
    let of_each = |ask: &dyn Fn(Vec<Symbol>) -> Ask| {
        let chunks = subject.symbols.chunks(STOCKS_A_QUESTION);
        chunks.map(|symbols| ask(symbols.to_vec())).collect()
    };
    match capability {
        Capability::Catalog => vec![Ask::Catalog],
        Capability::Benchmark => {
            let bars = bar_days(Some(subject.benchmark), subject, calendar, now);
            bars.map(|days| Ask::Benchmark(subject.benchmark, days))
                .into_iter()
                .collect()
        }
        Capability::DailyBars => daily_bars(subject, calendar, now),
        Capability::Fundamentals => of_each(&Ask::Fundamentals),
        Capability::Mentions => of_each(&Ask::Mentions),
        Capability::Earnings => of_each(&|symbols| Ask::Earnings(symbols, around(today, 0, AHEAD_DAYS))),
        Capability::Dividends => of_each(&|symbols| Ask::Dividends(symbols, around(today, DIVIDEND_DAYS, AHEAD_DAYS))),
        Capability::Splits => splits(occasion, subject.symbols, now),
        Capability::InsiderTrades => of_each(&|symbols| Ask::InsiderTrades(symbols, around(today, filings, 0))),
        // They are asked for elsewhere.
        Capability::Quotes | Capability::Stream | Capability::MinuteBars => Vec::new(),
    }
}

/// Daily bars: those that have the same last bar are asked for together.
fn daily_bars(subject: &Subject<'_>, calendar: &Calendar, now: Timestamp) -> Vec<Ask> {
    let mut by_days: Vec<(Days, Vec<Symbol>)> = Vec::new();
    for &symbol in subject.symbols {
        let Some(days) = bar_days(Some(symbol), subject, calendar, now) else {
            continue;
        };
        match by_days.iter_mut().find(|(known, _)| *known == days) {
            Some((_, symbols)) => symbols.push(symbol),
            None => by_days.push((days, vec![symbol])),
        }
    }
    let chunks = by_days.iter().flat_map(|(days, symbols)| {
        let chunks = symbols.chunks(STOCKS_A_QUESTION);
        chunks.map(|symbols| Ask::DailyBars(symbols.to_vec(), *days))
    });
    chunks.collect()
}

/// From the first day of which bars may be new to the last that has one.
fn bar_days(symbol: Option<Symbol>, subject: &Subject<'_>, calendar: &Calendar, now: Timestamp) -> Option<Days> {
    let today = new_york_date(now);
    let known = symbol.and_then(|symbol| (subject.last_bar)(symbol));
    let from = match known {
        Some(last) => last.saturating_sub(CORRECTED_DAYS.days()),
        None => today.saturating_sub(BAR_DAYS.days()),
    };
    let is_there = |close: Timestamp| close.saturating_add(BAR_IS_THERE).is_ok_and(|there| there <= now);
    let of_today = calendar.session(today).filter(|session| is_there(session.close));
    let last = of_today.or_else(|| calendar.previous_session_before(today))?;
    (from <= last.date).then_some(Days { from, to: last.date })
}

fn around(today: Date, before: i64, after: i64) -> Days {
    Days {
        from: today.saturating_sub(Span::new().days(before)),
        to: today.saturating_add(Span::new().days(after)),
    }
}

/// When each occasion comes next that comes by the clock.
#[derive(Debug)]
pub(super) struct Timetable {
    nightly_at: Time,
    due: [(Occasion, Timestamp); 3],
}

impl Timetable {
    pub(super) fn of(now: Timestamp, nightly_at: Time) -> Self {
        let occasions = [Occasion::Hourly, Occasion::Morning, Occasion::Nightly];
        Self {
            nightly_at,
            due: occasions.map(|occasion| (occasion, after(occasion, now, nightly_at))),
        }
    }

    /// When the next one comes.
    pub(super) fn next(&self) -> Timestamp {
        self.due.iter().map(|(_, at)| *at).min().unwrap_or(Timestamp::MAX)
    }

    /// Those that have come. What was slept through several times comes once.
    pub(super) fn take_due(&mut self, now: Timestamp) -> Vec<Occasion> {
        let mut taken = Vec::new();
        for (occasion, at) in &mut self.due {
            let next = after(*occasion, now, self.nightly_at);
            if *at <= now {
                taken.push(*occasion);
                *at = next;
            }
            // One that was planned by a clock that was ahead would come late.
            *at = next.min(*at);
        }
        taken
    }
}

/// When an occasion comes next, after `now`.
fn after(occasion: Occasion, now: Timestamp, nightly_at: Time) -> Timestamp {
    let today = new_york_date(now);
    let daily = |time: Time| {
        let days = [today, today.saturating_add(1.day())];
        let at = |date: Date| new_york(date, time.hour(), time.minute());
        days.into_iter().map(at).find(|&next| next > now)
    };
    let hour = SignedDuration::from_hours(1).as_secs();
    let next = match occasion {
        Occasion::Hourly => Timestamp::from_second((now.as_second().div_euclid(hour) + 1) * hour).ok(),
        Occasion::Morning => daily(MORNING),
        Occasion::Nightly => daily(nightly_at),
        // They come when somebody is watched, or wants something.
        Occasion::Newcomers | Occasion::Wanted(_) => None,
    };
    next.unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_at_the_same_instant_all_comes_once() {
        let at = |text: &str| -> Timestamp { text.parse().unwrap() };
        // Six in the evening, in New York.
        let mut table = Timetable::of(at("2024-03-08T22:30:00Z"), time(18, 0, 0, 0));
        assert_eq!(table.next(), at("2024-03-08T23:00:00Z"));
        assert_eq!(table.take_due(at("2024-03-08T22:59:59Z")), []);
        let due = table.take_due(at("2024-03-08T23:00:00Z"));
        assert_eq!(due, [Occasion::Hourly, Occasion::Nightly]);
        assert_eq!(table.take_due(at("2024-03-08T23:00:01Z")), []);
    }

    #[test]
    fn what_one_slow_question_spans_comes_after_it() {
        let at = |text: &str| -> Timestamp { text.parse().unwrap() };
        let mut table = Timetable::of(at("2024-03-08T22:50:00Z"), time(18, 30, 0, 0));
        let due = table.take_due(at("2024-03-09T01:35:00Z"));
        assert_eq!(due, [Occasion::Hourly, Occasion::Nightly]);
        // A quarter to nine, on the next morning.
        assert_eq!(
            table.take_due(at("2024-03-09T13:45:00Z")),
            [Occasion::Hourly, Occasion::Morning]
        );
    }

    #[test]
    fn clock_that_was_ahead_postpones_no_occasion() {
        let at = |text: &str| -> Timestamp { text.parse().unwrap() };
        let mut table = Timetable::of(at("2024-03-10T22:50:00Z"), time(18, 30, 0, 0));
        // The clock is set back by two days.
        assert_eq!(table.take_due(at("2024-03-08T22:50:00Z")), []);
        assert_eq!(table.next(), at("2024-03-08T23:00:00Z"));
        assert_eq!(
            table.take_due(at("2024-03-08T23:30:00Z")),
            [Occasion::Hourly, Occasion::Nightly]
        );
    }
}
