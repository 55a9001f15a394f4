//! The wall clock in New York: the date at an instant, and the instant of a time of day.

use std::sync::LazyLock;

use jiff::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::{TimeZone, TimeZoneDatabase};

/// New York's time zone from the compiled-in database. The machine's own database is never read, so every machine
/// agrees on the exchange's hours.
static NEW_YORK: LazyLock<TimeZone> = LazyLock::new(|| {
    TimeZoneDatabase::bundled()
        .get("America/New_York")
        .expect("the compiled-in time zone database has America/New_York")
});

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
    NEW_YORK.to_datetime(at).date()
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
    NEW_YORK.to_timestamp(date.to_datetime(time)).ok()
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
    fn invalid_times_and_dates_are_clamped() {
        let day = date(2024, 1, 16);
        assert_eq!(new_york(day, 24, 60), new_york(day, 23, 59));
        assert_eq!(new_york(day, -1, i8::MIN), new_york(day, 0, 0));
        assert_eq!(new_york(Date::MAX, 9, 30), Timestamp::MAX);
        assert_eq!(new_york(Date::MIN, 9, 30), Timestamp::MIN);
    }
}
