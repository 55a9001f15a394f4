//! Upcoming earnings and ex-dividend dates.

use jiff::civil::Date;
use market::day::day_number;
use market::{Calendar, Decimal};

use crate::AnalysisSubject;

/// The maximum number of calendar days ahead: a quarter, after which the next date follows.
pub const MAX_DAYS_AHEAD: u16 = 90;

/// An upcoming date.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UpcomingDate {
    /// The date.
    pub date: Date,
    /// The number of calendar days until then, 0 for today; conditions on dates count in these.
    pub days: u16,
    /// The number of sessions after today up to and including the date.
    pub sessions: usize,
    /// US dollars per share, for a dividend of known amount.
    pub amount: Option<Decimal>,
}

/// The next dates of a stock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct UpcomingEvents {
    /// The next earnings.
    pub earnings: Option<UpcomingDate>,
    /// The next ex-dividend date.
    pub ex_dividend: Option<UpcomingDate>,
}

impl UpcomingEvents {
    /// Finds the next dates from today on, at most [`MAX_DAYS_AHEAD`] days ahead.
    #[must_use]
    pub fn of(subject: &AnalysisSubject<'_>) -> Self {
        let (today, calendar) = (subject.today(), subject.context.calendar);
        let ahead = |date, amount| ahead(date, today, amount, calendar);
        let earnings = subject.earnings.iter().filter_map(|&date| ahead(date, None));
        let dividends = subject.dividends.iter();
        let ex_dates = dividends.filter_map(|dividend| ahead(dividend.ex_date, dividend.amount));
        Self {
            earnings: earnings.min_by_key(|ahead| ahead.date),
            ex_dividend: ex_dates.min_by_key(|ahead| ahead.date),
        }
    }
}

fn ahead(date: Date, today: Date, amount: Option<Decimal>, calendar: &Calendar) -> Option<UpcomingDate> {
    let days = u16::try_from(day_number(date) - day_number(today)).ok()?;
    (days <= MAX_DAYS_AHEAD).then(|| UpcomingDate {
        date,
        days,
        sessions: calendar
            .sessions(today, date)
            .filter(|session| session.date > today)
            .count(),
        amount,
    })
}
