//! The wall clock in New York: the date at an instant, and the instant of a time of day.

use std::cell::Cell;
use std::sync::LazyLock;

use jiff::civil::{Date, Time};
use jiff::tz::{Offset, TimeZone, TimeZoneDatabase};
use jiff::{SignedDuration, Timestamp};

/// New York's time zone from the compiled-in database. The machine's own database is never read, so every machine
/// agrees on the exchange's hours.
static NEW_YORK: LazyLock<TimeZone> = LazyLock::new(|| {
    TimeZoneDatabase::bundled()
        .get("America/New_York")
        .expect("the compiled-in time zone database has America/New_York")
});

/// A span of time in which New York's offset from UTC does not change: half a year.
#[derive(Clone, Copy)]
struct OffsetSpan {
    from: Timestamp,
    until: Timestamp,
    offset: Offset,
}

thread_local! {
    /// The span of the last instant that was in another one. Most requests are near the one before, and a search in the time zone's
    /// rules takes a large part of a judgement.
    static LAST_SPAN: Cell<OffsetSpan> = const {
        Cell::new(OffsetSpan {
            from: Timestamp::MAX,
            until: Timestamp::MIN,
            offset: Offset::UTC,
        })
    };
}

/// The distance from the ends of a span within which a wall clock may skip or repeat a time.
const NEAR_CHANGE: SignedDuration = SignedDuration::from_hours(24);

impl OffsetSpan {
    fn at(at: Timestamp) -> Self {
        let last = LAST_SPAN.get();
        if last.from <= at && at < last.until {
            return last;
        }
        let changes_before = NEW_YORK.preceding(at).next();
        let span = Self {
            from: changes_before.map_or(Timestamp::MIN, |change| change.timestamp()),
            until: NEW_YORK
                .following(at)
                .next()
                .map_or(Timestamp::MAX, |change| change.timestamp()),
            offset: NEW_YORK.to_offset(at),
        };
        // At the very change, the span before it ends.
        let from = if NEW_YORK.to_offset(span.from) == span.offset {
            span.from
        } else {
            at
        };
        let span = Self { from, ..span };
        LAST_SPAN.set(span);
        span
    }

    /// Returns the instant of a wall clock within the span; `None` outside, and near its ends.
    fn instant(self, date: Date, time: Time) -> Option<Timestamp> {
        let at = self.offset.to_timestamp(date.to_datetime(time)).ok()?;
        let is_inside = at.duration_since(self.from) > NEAR_CHANGE && self.until.duration_since(at) > NEAR_CHANGE;
        is_inside.then_some(at)
    }
}

/// New York's time zone, the same on every machine.
#[must_use]
pub fn new_york_time_zone() -> TimeZone {
    NEW_YORK.clone()
}

/// Returns the date in New York at the instant `at`.
///
/// ```
/// let late_evening = "2024-07-02T03:59:59Z".parse().unwrap();
/// assert_eq!(market::calendar::new_york_date(late_evening).to_string(), "2024-07-01");
/// ```
#[must_use]
pub fn new_york_date(at: Timestamp) -> Date {
    OffsetSpan::at(at).offset.to_datetime(at).date()
}

/// Returns the instant at which clocks in New York show `hour:minute` on `date`.
///
/// A time that the spring change skips moves forward by the missing hour. For a time that the autumn change repeats,
/// the first instant counts. Invalid hours and minutes are clamped, and a date outside the range of [`Timestamp`]
/// gives the nearest instant.
#[must_use]
pub fn new_york(date: Date, hour: i8, minute: i8) -> Timestamp {
    let (hour, minute) = (hour.clamp(0, 23), minute.clamp(0, 59));
    wall_clock(date, Time::constant(hour, minute, 0, 0)).unwrap_or(if date.year() < 0 {
        Timestamp::MIN
    } else {
        Timestamp::MAX
    })
}

/// Returns the instant at which clocks in New York show `time` on `date`; `None` at the very ends of representable
/// time.
pub(super) fn wall_clock(date: Date, time: Time) -> Option<Timestamp> {
    let known = LAST_SPAN.get().instant(date, time);
    known.or_else(|| NEW_YORK.to_timestamp(date.to_datetime(time)).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    fn instant(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn date_changes_at_new_york_midnight_in_winter_and_summer() {
        assert_eq!(new_york_date(instant("2024-01-16T04:59:59Z")), date(2024, 1, 15));
        assert_eq!(new_york_date(instant("2024-01-16T05:00:00Z")), date(2024, 1, 16));
        assert_eq!(new_york_date(instant("2024-07-16T03:59:59Z")), date(2024, 7, 15));
        assert_eq!(new_york_date(instant("2024-07-16T04:00:00Z")), date(2024, 7, 16));
    }

    #[test]
    fn daylight_saving_before_2007_lasted_from_april_to_october() {
        assert_eq!(new_york(date(2006, 3, 31), 9, 30), instant("2006-03-31T14:30:00Z"));
        assert_eq!(new_york(date(2006, 4, 3), 9, 30), instant("2006-04-03T13:30:00Z"));
        assert_eq!(new_york(date(2006, 10, 27), 9, 30), instant("2006-10-27T13:30:00Z"));
        assert_eq!(new_york(date(2006, 10, 30), 9, 30), instant("2006-10-30T14:30:00Z"));
    }

    #[test]
    fn skipped_time_moves_forward_and_repeated_time_is_the_first() {
        assert_eq!(new_york(date(2024, 3, 10), 2, 30), instant("2024-03-10T07:30:00Z"));
        assert_eq!(new_york(date(2024, 11, 3), 1, 30), instant("2024-11-03T05:30:00Z"));
    }

    #[test]
    fn remembered_offset_gives_the_same_as_the_rules() {
        let start = instant("2023-01-01T00:30:00Z");
        let hours: Vec<_> = (0..24 * 800)
            .map(|hour| start + SignedDuration::from_hours(hour))
            .chain(
                [
                    "2024-03-10T06:59:59.999999999Z",
                    "2024-03-10T07:00:00Z",
                    "2024-11-03T06:00:00Z",
                ]
                .map(instant),
            )
            .chain([Timestamp::MIN, Timestamp::MAX, Timestamp::UNIX_EPOCH])
            .collect();
        // Forwards, backwards, and in leaps.
        let leaps = (0..hours.len()).map(|place| &hours[place * 7_919 % hours.len()]);
        for &at in hours.iter().chain(hours.iter().rev()).chain(leaps) {
            let by_rules = NEW_YORK.to_datetime(at);
            assert_eq!(new_york_date(at), by_rules.date(), "{at}");
            let (date, time) = (by_rules.date(), by_rules.time());
            assert_eq!(
                wall_clock(date, time),
                NEW_YORK.to_timestamp(date.to_datetime(time)).ok(),
                "{at}"
            );
        }
    }

    #[test]
    fn invalid_times_and_dates_are_clamped() {
        let day = date(2024, 1, 16);
        assert_eq!(new_york(day, 24, 60), new_york(day, 23, 59));
        assert_eq!(new_york(day, -1, i8::MIN), new_york(day, 0, 0));
        assert_eq!(new_york(Date::MAX, 9, 30), Timestamp::MAX);
        assert_eq!(new_york(Date::MIN, 9, 30), Timestamp::MIN);
    }
}
