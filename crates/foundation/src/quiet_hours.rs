//! Quiet hours.

use jiff::tz::TimeZone;
use jiff::{Timestamp, civil};
use store::model::{Account, QuietHours};

/// Returns the end of an account's quiet hours at an instant; `None` outside of them, and if it has none.
///
/// Quiet hours follow the wall clock. An end that daylight saving time skips in spring moves to the next existing time.
/// If an hour occurs twice in autumn, both are quiet, and quiet hours that end in it end at the second.
#[must_use]
pub fn quiet_until(account: &Account, now: Timestamp) -> Option<Timestamp> {
    let profile = &account.profile;
    let back_at = profile.away_until.filter(|until| *until > now);
    // The owner may come back during quiet hours.
    let from = back_at.unwrap_or(now);
    let quiet = profile
        .quiet_hours
        .and_then(|hours| end_of(hours, &time_zone(account), from));
    quiet.or(back_at)
}

/// Returns the time zone of an account.
#[must_use]
pub fn time_zone(account: &Account) -> TimeZone {
    // Only known names are stored. If a later version drops one, UTC is the fallback.
    TimeZone::get(&account.time_zone).unwrap_or(TimeZone::UTC)
}

fn end_of(hours: QuietHours, zone: &TimeZone, now: Timestamp) -> Option<Timestamp> {
    let wall = now.to_zoned(zone.clone()).datetime();
    let minute =
        |time: civil::Time| u16::from(time.hour().unsigned_abs()) * 60 + u16::from(time.minute().unsigned_abs());
    let shown = minute(wall.time());
    let is_over_midnight = hours.from > hours.until;
    let is_quiet = if is_over_midnight {
        shown >= hours.from || shown < hours.until
    } else {
        (hours.from..hours.until).contains(&shown)
    };
    if !is_quiet {
        return None;
    }
    let is_tomorrow = is_over_midnight && shown >= hours.from;
    let date = if is_tomorrow {
        wall.date().tomorrow().ok()?
    } else {
        wall.date()
    };
    let hour = i8::try_from(hours.until / 60).ok()?;
    let end = date.at(hour, i8::try_from(hours.until % 60).ok()?, 0, 0);
    let end = zone.to_ambiguous_timestamp(end).later().ok()?;
    // Never before now, whatever the time zone's transitions are.
    (end > now).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(from: u16, until: u16, zone: &str, now: &str) -> Option<String> {
        let zone = TimeZone::get(zone).unwrap();
        let end = end_of(QuietHours { from, until }, &zone, now.parse().unwrap())?;
        Some(end.to_zoned(zone).strftime("%Y-%m-%dT%H:%M%:z").to_string())
    }

    const TEN_PM: u16 = 22 * 60;
    const SEVEN: u16 = 7 * 60;

    #[test]
    fn quiet_hours_include_start_and_exclude_end() {
        for (now, end) in [
            ("2024-03-08T12:59:59-05:00", None),
            ("2024-03-08T13:00:00-05:00", Some("2024-03-08T14:30-05:00")),
            ("2024-03-08T14:29:59.999-05:00", Some("2024-03-08T14:30-05:00")),
            ("2024-03-08T14:30:00-05:00", None),
        ] {
            assert_eq!(
                ends(13 * 60, 14 * 60 + 30, "America/New_York", now).as_deref(),
                end,
                "{now}"
            );
        }
    }

    #[test]
    fn quiet_hours_may_span_midnight() {
        for (now, end) in [
            ("2024-01-31T21:59:59+01:00", None),
            ("2024-01-31T22:00:00+01:00", Some("2024-02-01T07:00+01:00")),
            ("2024-01-31T23:59:59+01:00", Some("2024-02-01T07:00+01:00")),
            ("2024-02-01T00:00:00+01:00", Some("2024-02-01T07:00+01:00")),
            ("2024-02-01T06:59:59+01:00", Some("2024-02-01T07:00+01:00")),
            ("2024-02-01T07:00:00+01:00", None),
        ] {
            assert_eq!(ends(TEN_PM, SEVEN, "Europe/Berlin", now).as_deref(), end, "{now}");
        }
        assert_eq!(
            ends(TEN_PM, 0, "Europe/Berlin", "2024-01-31T23:00:00+01:00").as_deref(),
            Some("2024-02-01T00:00+01:00")
        );
    }

    #[test]
    fn spring_clock_change_shortens_quiet_hours() {
        let (zone, now) = ("America/New_York", "2024-03-09T23:00:00-05:00");
        assert_eq!(
            ends(TEN_PM, SEVEN, zone, now).as_deref(),
            Some("2024-03-10T07:00-04:00")
        );
        // 02:30 does not exist in that night.
        assert_eq!(ends(TEN_PM, 150, zone, now).as_deref(), Some("2024-03-10T03:30-04:00"));
        assert_eq!(ends(TEN_PM, 150, zone, "2024-03-10T03:00:00-04:00"), None);
        assert_eq!(ends(120, 180, zone, "2024-03-10T03:00:00-04:00"), None);
    }

    #[test]
    fn autumn_clock_change_lengthens_quiet_hours() {
        let zone = "America/New_York";
        assert_eq!(
            ends(TEN_PM, SEVEN, zone, "2024-11-02T23:00:00-04:00").as_deref(),
            Some("2024-11-03T07:00-05:00")
        );
        // 01:30 occurs twice.
        for now in [
            "2024-11-02T23:00:00-04:00",
            "2024-11-03T01:15:00-04:00",
            "2024-11-03T01:15:00-05:00",
        ] {
            assert_eq!(
                ends(TEN_PM, 90, zone, now).as_deref(),
                Some("2024-11-03T01:30-05:00"),
                "{now}"
            );
        }
    }

    #[test]
    fn quiet_hours_follow_the_time_zone() {
        let now = "2024-03-08T12:00:00Z";
        assert_eq!(ends(TEN_PM, SEVEN, "Europe/Berlin", now), None);
        assert_eq!(
            ends(TEN_PM, SEVEN, "Pacific/Auckland", now).as_deref(),
            Some("2024-03-09T07:00+13:00")
        );
    }
}
