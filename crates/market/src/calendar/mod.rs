//! # The trading calendar of the New York Stock Exchange
//!
//! A [`Calendar`] returns the [`Session`] on a date, or the [`Closure`] that explains why there is none, and the
//! session at an instant. It reads neither a clock nor a file: the caller passes the instant, and New York's time
//! zone is compiled in.
//!
//! The dates follow the exchange's rules instead of a list of years, so they hold for years to come. The yearly
//! holidays and early closes are in `rules.rs`, one-time closures in `special.rs`, and New York's wall clock in
//! `zone.rs`. [`Calendar::with_extra_closures`] adds closures that the exchange announces later.
//!
//! A session lasts from 09:30 to 16:00 New York time, or to 13:00 on an early close; the instants of the open and the
//! close both belong to it. [`Calendar::always_open`] removes this restriction, so that alerts can be tried at any
//! time: every day has a session, and every instant is in the session of its New York date.
//!
//! ```
//! use jiff::civil::date;
//! use market::Calendar;
//!
//! let nyse = Calendar::nyse();
//! let session = nyse.session(date(2024, 11, 29)).unwrap();
//! assert_eq!(session.open.to_string(), "2024-11-29T14:30:00Z");
//! assert_eq!(session.close.to_string(), "2024-11-29T18:00:00Z");
//! assert!(session.early_close);
//! assert_eq!(nyse.closure(date(2040, 3, 30)).unwrap().to_string(), "Good Friday");
//! ```

mod extended_hours;
mod rules;
mod special;
mod trading_time;
mod zone;

use std::collections::BTreeSet;
use std::fmt;
use std::iter;

use jiff::Timestamp;
use jiff::civil::{Date, Time, time};

pub use extended_hours::ExtendedHours;
pub use rules::Holiday;
pub use trading_time::TradingHours;
pub use zone::{new_york, new_york_date, new_york_time_zone};

/// The time at which a session opens, in New York.
const OPEN: Time = time(9, 30, 0, 0);
/// The time at which a session closes, in New York.
const CLOSE: Time = time(16, 0, 0, 0);
/// The time of an early close, in New York.
const EARLY_CLOSE: Time = time(13, 0, 0, 0);

/// A trading session: its date in New York and the instants at which it opens and closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Session {
    /// The date in New York.
    pub date: Date,
    /// The first instant of the session: 09:30 New York.
    pub open: Timestamp,
    /// The last instant of the session: 16:00 New York, or 13:00.
    pub close: Timestamp,
    /// Whether the session closes at 13:00.
    pub early_close: bool,
}

impl Session {
    /// Whether `at` is in the session. The instants of the open and the close are.
    #[must_use]
    pub fn contains(&self, at: Timestamp) -> bool {
        self.open <= at && at <= self.close
    }

    /// The session from 09:30 to `close` on `date`; `None` at the very ends of representable time.
    fn until(date: Date, close: Time) -> Option<Self> {
        Some(Self {
            date,
            open: zone::wall_clock(date, OPEN)?,
            close: zone::wall_clock(date, close)?,
            early_close: close == EARLY_CLOSE,
        })
    }
}

/// The reason why the exchange is closed for a whole day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Closure {
    /// A Saturday or a Sunday.
    Weekend,
    /// A yearly holiday, on the day on which it is observed.
    Holiday(Holiday),
    /// A one-time closure; the reason completes the phrase "closed for".
    Special(&'static str),
    /// A closure added by [`Calendar::with_extra_closures`].
    Extra,
}

impl fmt::Display for Closure {
    /// Completes the phrase "closed for": `Good Friday`, `the weekend`, `Hurricane Sandy`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Weekend => "the weekend",
            Self::Holiday(holiday) => holiday.name(),
            Self::Special(reason) => reason,
            Self::Extra => "a closure that was added to the calendar",
        })
    }
}

/// The trading days and hours of the exchange.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Calendar {
    extra_closures: BTreeSet<Date>,
    always_open: bool,
}

impl Calendar {
    /// Returns the calendar of the New York Stock Exchange.
    #[must_use]
    pub fn nyse() -> Self {
        Self::default()
    }

    /// Returns this calendar with `dates` closed as well.
    #[must_use]
    pub fn with_extra_closures(mut self, dates: impl IntoIterator<Item = Date>) -> Self {
        self.extra_closures.extend(dates);
        self
    }

    /// Returns this calendar without closing hours: every instant is in the session of its New York date.
    ///
    /// A closed day then has a nominal session from 09:30 to 16:00. The other days keep their hours, early closes
    /// included, so opens and closes still occur one by one.
    #[must_use]
    pub fn always_open(mut self) -> Self {
        self.always_open = true;
        self
    }

    /// Whether every instant is in a session.
    #[must_use]
    pub fn is_always_open(&self) -> bool {
        self.always_open
    }

    /// Returns why the exchange is closed on `date`, or `None` if it trades.
    ///
    /// An always-open calendar returns the exchange's real closures, too.
    #[must_use]
    pub fn closure(&self, date: Date) -> Option<Closure> {
        if rules::is_weekend(date) {
            return Some(Closure::Weekend);
        }
        rules::holiday(date)
            .map(Closure::Holiday)
            .or_else(|| special::closure(date).map(Closure::Special))
            .or_else(|| self.extra_closures.contains(&date).then_some(Closure::Extra))
    }

    /// Returns the session on `date`, or `None` on a closed day.
    #[must_use]
    pub fn session(&self, date: Date) -> Option<Session> {
        let close = match self.closure(date) {
            Some(_) if !self.always_open => return None,
            None if rules::closes_early(date) => EARLY_CLOSE,
            _ => CLOSE,
        };
        Session::until(date, close)
    }

    /// Returns the session that is open at the instant `at`; the instants of its open and close are included.
    ///
    /// For an always-open calendar this is the session of the New York date of `at`, at any hour.
    #[must_use]
    pub fn session_at(&self, at: Timestamp) -> Option<Session> {
        let session = self.session(new_york_date(at))?;
        (self.always_open || session.contains(at)).then_some(session)
    }

    /// Returns the first session on a date after `date`; `None` only at the end of representable time.
    #[must_use]
    pub fn next_session_after(&self, date: Date) -> Option<Session> {
        self.sessions(date.tomorrow().ok()?, Date::MAX).next()
    }

    /// Returns the last session on a date before `date`; `None` only at the start of representable time.
    #[must_use]
    pub fn previous_session_before(&self, date: Date) -> Option<Session> {
        iter::successors(date.yesterday().ok(), |day| day.yesterday().ok()).find_map(|day| self.session(day))
    }

    /// Returns the sessions from `from` to `to`, both included, in order; none if `to` is before `from`.
    pub fn sessions(&self, from: Date, to: Date) -> impl Iterator<Item = Session> {
        iter::successors(Some(from), |day| day.tomorrow().ok())
            .take_while(move |&day| day <= to)
            .filter_map(|day| self.session(day))
    }

    /// Returns the first open strictly after the instant `after`.
    #[must_use]
    pub fn next_open(&self, after: Timestamp) -> Option<Timestamp> {
        self.sessions(new_york_date(after), Date::MAX)
            .map(|session| session.open)
            .find(|&open| open > after)
    }

    /// Returns the first close strictly after the instant `after`.
    #[must_use]
    pub fn next_close(&self, after: Timestamp) -> Option<Timestamp> {
        self.sessions(new_york_date(after), Date::MAX)
            .map(|session| session.close)
            .find(|&close| close > after)
    }

    /// Returns the instant at which conditions on dates are evaluated on `date`: the session's open, or 09:30 New
    /// York time on a closed day.
    #[must_use]
    pub fn daily_evaluation_time(&self, date: Date) -> Timestamp {
        new_york(date, OPEN.hour(), OPEN.minute())
    }
}
