//! Extended hours: trading before the open and after the close of a session.

use jiff::Timestamp;
use jiff::civil::Date;

use super::zone::{new_york, new_york_date};
use super::{Calendar, Session};

/// The hour at which trading before the open begins, in New York.
const EARLIEST_HOUR: i8 = 4;
/// The hour at which trading after the close ends, in New York.
const LATEST_HOUR: i8 = 20;

/// The hours before the open or after the close of one session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ExtendedHours {
    /// The session to which the prices belong: the one that opens next.
    pub session: Session,
    /// 04:00 New York, which is included, or the close, which is not.
    pub from: Timestamp,
    /// The open, which is not included, or 20:00 New York, which is.
    pub to: Timestamp,
}

impl Session {
    /// The beginning and the end of trading on the day of the session, extended hours included. An early close changes neither.
    pub(super) fn with_extended_hours(&self) -> (Timestamp, Timestamp) {
        (
            new_york(self.date, EARLIEST_HOUR, 0),
            new_york(self.date, LATEST_HOUR, 0),
        )
    }
}

impl Calendar {
    /// Returns the extended hours at the instant `at`: on a trading day 04:00–09:30 New York, and from the close to 20:00. `None` in
    /// the session, whose open and close belong to it, and for an always-open calendar.
    #[must_use]
    pub fn extended_hours_at(&self, at: Timestamp) -> Option<ExtendedHours> {
        if self.always_open {
            return None;
        }
        let today = self.session(new_york_date(at))?;
        let (earliest, latest) = today.with_extended_hours();
        if earliest <= at && at < today.open {
            return Some(ExtendedHours {
                session: today,
                from: earliest,
                to: today.open,
            });
        }
        if today.close < at && at <= latest {
            return Some(ExtendedHours {
                session: self.next_session_after(today.date)?,
                from: today.close,
                to: latest,
            });
        }
        None
    }

    /// Returns the first 04:00 New York of a trading day strictly after the instant `after`, at which extended hours begin.
    #[must_use]
    pub fn next_extended_open(&self, after: Timestamp) -> Option<Timestamp> {
        self.sessions(new_york_date(after), Date::MAX)
            .map(|session| session.with_extended_hours().0)
            .find(|&open| open > after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the date of the session to which a price at the instant belongs.
    fn session_of(at: &str) -> Option<String> {
        let hours = Calendar::nyse().extended_hours_at(at.parse().unwrap())?;
        Some(hours.session.date.to_string())
    }

    #[test]
    fn price_before_the_open_belongs_to_that_session() {
        for (at, session) in [
            ("2024-07-05T07:59:59Z", None),
            ("2024-07-05T08:00:00Z", Some("2024-07-05")),
            ("2024-07-05T13:29:59Z", Some("2024-07-05")),
            ("2024-07-05T13:30:00Z", None),
        ] {
            assert_eq!(session_of(at).as_deref(), session, "{at}");
        }
    }

    #[test]
    fn price_after_the_close_belongs_to_the_next_session() {
        for (at, session) in [
            ("2024-07-05T20:00:00Z", None),
            ("2024-07-05T20:00:01Z", Some("2024-07-08")),
            ("2024-07-06T00:00:00Z", Some("2024-07-08")),
            ("2024-07-06T00:00:01Z", None),
        ] {
            assert_eq!(session_of(at).as_deref(), session, "{at}");
        }
    }

    #[test]
    fn extended_hours_begin_at_an_early_close_and_end_at_eight() {
        for (at, session) in [
            ("2024-07-03T17:00:00Z", None),
            ("2024-07-03T17:00:01Z", Some("2024-07-05")),
            ("2024-07-04T00:00:00Z", Some("2024-07-05")),
            ("2024-07-04T00:00:01Z", None),
        ] {
            assert_eq!(session_of(at).as_deref(), session, "{at}");
        }
    }

    #[test]
    fn next_extended_open_is_strictly_later_and_on_a_trading_day() {
        for (after, open) in [
            ("2024-07-03T07:59:59Z", "2024-07-03T08:00:00Z"),
            ("2024-07-03T08:00:00Z", "2024-07-05T08:00:00Z"),
            ("2024-07-05T22:00:00Z", "2024-07-08T08:00:00Z"),
        ] {
            let found = Calendar::nyse().next_extended_open(after.parse().unwrap());
            assert_eq!(found, Some(open.parse().unwrap()), "{after}");
        }
    }

    #[test]
    fn closed_days_and_always_open_calendars_have_no_extended_hours() {
        for at in ["2024-07-04T12:00:00Z", "2024-07-06T12:00:00Z", "2024-07-06T21:00:00Z"] {
            assert_eq!(session_of(at), None, "{at}");
        }
        let at = "2024-07-05T12:00:00Z".parse().unwrap();
        assert_eq!(Calendar::nyse().always_open().extended_hours_at(at), None);
    }
}
