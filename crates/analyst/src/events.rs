//! What is known to come: earnings and ex-dividend dates.

use jiff::civil::Date;
use market::day::day_number;
use market::{Calendar, Decimal};

use crate::Subject;

/// How many calendar days ahead a date is of interest: a quarter, after which the next one comes.
pub const DAYS_AHEAD: u16 = 90;

/// A date ahead.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ahead {
    /// The date.
    pub date: Date,
    /// How many calendar days ahead it is, 0 for today; the conditions on dates count in these.
    pub days: u16,
    /// How many sessions lie between today and the date, that of the date included.
    pub sessions: usize,
    /// US dollars a share, if it is a dividend and that is known.
    pub amount: Option<Decimal>,
}

/// The next dates of a stock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Events {
    /// The next earnings.
    pub earnings: Option<Ahead>,
    /// The next ex-dividend date.
    pub ex_dividend: Option<Ahead>,
}

impl Events {
    /// The next dates from today on, up to [`DAYS_AHEAD`] days ahead.
    #[must_use]
    pub fn of(subject: &Subject<'_>) -> Self {
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

fn ahead(date: Date, today: Date, amount: Option<Decimal>, calendar: &Calendar) -> Option<Ahead> {
    let days = u16::try_from(day_number(date) - day_number(today)).ok()?;
    (days <= DAYS_AHEAD).then(|| Ahead {
        date,
        days,
        sessions: calendar
            .sessions(today, date)
            .filter(|session| session.date > today)
            .count(),
        amount,
    })
}
