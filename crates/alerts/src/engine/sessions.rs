//! Cached sessions of the calendar, whose computation takes longer than the rest of an event.

use hashbrown::HashMap;
use jiff::Timestamp;
use jiff::civil::Date;
use market::Calendar;
use market::calendar::new_york_date;
use market::day::day_number;

use super::decision::EventError;

#[derive(Clone, Debug, Default)]
pub(super) struct CachedSessions {
    /// The session of the last snapshot.
    current: Option<CachedSession>,
    /// The closes of the sessions of delivered bars; `None` for a date without a session. A start delivers the same dates for each
    /// stock.
    closes: HashMap<Date, Option<Timestamp>>,
}

/// The session of a snapshot.
#[derive(Clone, Copy, Debug)]
pub(super) struct CachedSession {
    pub(super) date: Date,
    pub(super) day: i32,
    from: Timestamp,
    to: Timestamp,
}

impl CachedSessions {
    /// Returns the session that is open at `now`.
    pub(super) fn at(&mut self, calendar: &Calendar, now: Timestamp) -> Option<CachedSession> {
        if let Some(session) = self.current.filter(|session| session.from <= now && now <= session.to) {
            return Some(session);
        }
        let session = calendar.session_at(now)?;
        // On a market that never closes, the date changes at midnight, which only the calendar knows.
        let (from, to) = if calendar.is_always_open() {
            (now, now)
        } else {
            (session.open, session.close)
        };
        let session = CachedSession {
            date: session.date,
            day: day_number(session.date),
            from,
            to,
        };
        self.current = Some(session);
        Some(session)
    }

    /// Checks that the session of a bar has ended.
    pub(super) fn require_completed(
        &mut self,
        calendar: &Calendar,
        date: Date,
        now: Timestamp,
    ) -> Result<(), EventError> {
        let completed = if calendar.is_always_open() {
            date < new_york_date(now)
        } else {
            let close = || calendar.session(date).map(|session| session.close);
            let close = self.closes.entry(date).or_insert_with(close);
            close.is_some_and(|close| close <= now)
        };
        if completed {
            Ok(())
        } else {
            Err(EventError::NoCompletedSession { date })
        }
    }
}
