//! # The calendar: when the New York Stock Exchange is open
//!
//! A [`Calendar`] turns a date into the [`Session`] on it, or says with a [`Closure`] why there is
//! none, and turns an instant into the session that it falls in. Nothing here reads a clock or a
//! file: the instant comes in, and New York's time zone is compiled in.
//!
//! The dates come from the exchange's rules and not from a list of years, so that they hold for
//! years to come: the yearly holidays and early closes are in `rules.rs`, the days that were closed
//! once in `special.rs`, the wall clock of New York in `zone.rs`. A day that the exchange will
//! announce later is added with [`Calendar::with_extra_closures`].
//!
//! A session lasts from 09:30 to 16:00, or to 13:00 on an early close, New York time; the instant
//! of the open and the instant of the close are both part of it. [`Calendar::always_open`] lifts
//! this gate for the trying out of alerts: then every day has a session, and every instant is in
//! the session of its New York date.
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
//! assert_eq!(nyse.holiday(date(2040, 3, 30)).unwrap().to_string(), "Good Friday");
//! ```

mod rules;
mod special;
mod zone;

use std::collections::BTreeSet;
use std::fmt;
use std::iter;

use jiff::Timestamp;
use jiff::civil::{Date, Time, time};

pub use rules::Holiday;
pub use zone::{new_york, new_york_date, new_york_time_zone};

/// When a session opens, in New York.
const OPEN: Time = time(9, 30, 0, 0);
/// When a session closes, in New York.
const CLOSE: Time = time(16, 0, 0, 0);
/// When a session with an early close closes, in New York.
const EARLY_CLOSE: Time = time(13, 0, 0, 0);

/// One day's regular trading: its date in New York, and the instants at which it opens and closes.
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
    /// Whether `at` is in the session; the instants of its open and of its close are.
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

/// Why the exchange is closed for a whole day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Closure {
    /// A Saturday or a Sunday.
    Weekend,
    /// A holiday of every year, on the day on which it is kept.
    Holiday(Holiday),
    /// A closure that happened once; the reason reads on from "closed for".
    Special(&'static str),
    /// A date given to [`Calendar::with_extra_closures`].
    Extra,
}

impl fmt::Display for Closure {
    /// Reads on from "closed for": `Good Friday`, `the weekend`, `Hurricane Sandy`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Weekend => "the weekend",
            Self::Holiday(holiday) => holiday.name(),
            Self::Special(reason) => reason,
            Self::Extra => "a closure that was added to the calendar",
        })
    }
}

/// The days and hours on which the exchange trades.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Calendar {
    extra_closures: BTreeSet<Date>,
    always_open: bool,
}

impl Calendar {
    /// The calendar of the New York Stock Exchange.
    #[must_use]
    pub fn nyse() -> Self {
        Self::default()
    }

    /// This calendar with `dates` closed as well.
    #[must_use]
    pub fn with_extra_closures(mut self, dates: impl IntoIterator<Item = Date>) -> Self {
        self.extra_closures.extend(dates);
        self
    }

    /// This calendar with its gate lifted: every instant is in the session of its New York date.
    ///
    /// A closed day then has a nominal session from 09:30 to 16:00. The other days keep their
    /// hours, early closes included, and so opens and closes still come one by one.
    #[must_use]
    pub fn always_open(mut self) -> Self {
        self.always_open = true;
        self
    }

    /// Whether the gate is lifted.
    #[must_use]
    pub fn is_always_open(&self) -> bool {
        self.always_open
    }

    /// Why the exchange is closed on `date`; `None` when it trades.
    ///
    /// This stays the exchange's own answer when the gate is lifted.
    #[must_use]
    pub fn holiday(&self, date: Date) -> Option<Closure> {
        if rules::is_weekend(date) {
            return Some(Closure::Weekend);
        }
        rules::holiday(date)
            .map(Closure::Holiday)
            .or_else(|| special::closure(date).map(Closure::Special))
            .or_else(|| self.extra_closures.contains(&date).then_some(Closure::Extra))
    }

    /// The session on `date`; `None` on a closed day.
    #[must_use]
    pub fn session(&self, date: Date) -> Option<Session> {
        let close = match self.holiday(date) {
            Some(_) if !self.always_open => return None,
            None if rules::closes_early(date) => EARLY_CLOSE,
            _ => CLOSE,
        };
        Session::until(date, close)
    }

    /// The session that is open at the instant `at`, the instants of its open and close included.
    ///
    /// With the gate lifted, the session of the New York date of `at`, at any hour.
    #[must_use]
    pub fn session_at(&self, at: Timestamp) -> Option<Session> {
        let session = self.session(new_york_date(at))?;
        (self.always_open || session.contains(at)).then_some(session)
    }

    /// The first session on a date after `date`; `None` only at the end of representable time.
    #[must_use]
    pub fn next_session_after(&self, date: Date) -> Option<Session> {
        self.sessions(date.tomorrow().ok()?, Date::MAX).next()
    }

    /// The last session on a date before `date`; `None` only at the start of representable time.
    #[must_use]
    pub fn previous_session_before(&self, date: Date) -> Option<Session> {
        iter::successors(date.yesterday().ok(), |day| day.yesterday().ok()).find_map(|day| self.session(day))
    }

    /// The sessions from `from` to `to`, both included, in order; none when `to` is before `from`.
    pub fn sessions(&self, from: Date, to: Date) -> impl Iterator<Item = Session> {
        iter::successors(Some(from), |day| day.tomorrow().ok())
            .take_while(move |&day| day <= to)
            .filter_map(|day| self.session(day))
    }

    /// The first open after the instant `after`; at an open, it is the one after that.
    #[must_use]
    pub fn next_open(&self, after: Timestamp) -> Option<Timestamp> {
        self.sessions(new_york_date(after), Date::MAX)
            .map(|session| session.open)
            .find(|&open| open > after)
    }

    /// The first close after the instant `after`; at a close, it is the one after that.
    #[must_use]
    pub fn next_close(&self, after: Timestamp) -> Option<Timestamp> {
        self.sessions(new_york_date(after), Date::MAX)
            .map(|session| session.close)
            .find(|&close| close > after)
    }

    /// When on `date` the conditions on dates are judged: at the session's open, and on a closed
    /// day when it would have been.
    #[must_use]
    pub fn daily_moment(&self, date: Date) -> Timestamp {
        new_york(date, OPEN.hour(), OPEN.minute())
    }
}
