//! How many messages a notification channel gets: bursts, digests and a daily budget.

use jiff::civil::Time;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan, Unit, ZonedRound};

/// How many messages a notification channel gets. What is more is put together in one message; nothing is dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ChannelThrottle {
    /// Maximum number of messages within a minute; of the service by default.
    pub burst_limit: Option<u32>,
    /// When the firings since the last digest are sent in one message. `None`: each is sent at once.
    pub digest: Option<Digest>,
    /// Maximum number of messages on a day of the account's time zone. What is more waits for the next digest.
    pub daily_budget: Option<u32>,
}

/// The times of a digest, in the time zone of the account.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Digest {
    /// At the beginning of each hour.
    Hourly,
    /// Each day at this time, in hours and minutes.
    Daily(Time),
}

/// The first digest with what exceeds the budget of a channel without digests.
pub(crate) const SURPLUS_DIGEST: Digest = Digest::Daily(Time::constant(8, 0, 0, 0));

impl Digest {
    /// Reads `hourly` or `daily at HH:MM`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        if name == "hourly" {
            return Some(Self::Hourly);
        }
        let time = name.strip_prefix("daily at ").filter(|time| time.len() == 5)?;
        let (hour, minute) = time.split_once(':')?;
        let is_number = |text: &str| text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(hour) || !is_number(minute) {
            return None;
        }
        let time = Time::new(hour.parse().ok()?, minute.parse().ok()?, 0, 0);
        time.ok().map(Self::Daily)
    }

    /// Returns the name that [`Self::from_name`] reads.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Hourly => "hourly".to_owned(),
            Self::Daily(time) => format!("daily at {:02}:{:02}", time.hour(), time.minute()),
        }
    }

    /// Returns the first digest after an instant. A time of day that daylight saving time skips is that much later; of one that occurs
    /// twice it is the first.
    #[must_use]
    pub fn next_after(self, instant: Timestamp, zone: &TimeZone) -> Timestamp {
        self.next(instant, zone)
            .filter(|next| *next > instant)
            // Only at the end of the supported time range.
            .unwrap_or(instant)
    }

    fn next(self, instant: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        let local = instant.to_zoned(zone.clone());
        match self {
            Self::Hourly => {
                let hour = ZonedRound::new().smallest(Unit::Hour).mode(jiff::RoundMode::Trunc);
                let next = local.round(hour).ok()?.checked_add(1.hour()).ok()?;
                Some(next.timestamp())
            }
            Self::Daily(time) => {
                let on = |date: jiff::civil::Date| zone.to_timestamp(date.to_datetime(time)).ok();
                let today = on(local.date())?;
                if today > instant {
                    return Some(today);
                }
                on(local.date().tomorrow().ok()?)
            }
        }
    }
}

/// Returns the beginning of the day of an instant in a time zone.
pub(crate) fn day_start(instant: Timestamp, zone: &TimeZone) -> Timestamp {
    let local = instant.to_zoned(zone.clone()).start_of_day();
    local.map_or_else(
        |_| {
            instant
                .saturating_sub(SignedDuration::from_hours(24))
                .unwrap_or(instant)
        },
        |start| start.timestamp(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(digest: &str, zone: &str, instant: &str) -> String {
        let zone = TimeZone::get(zone).unwrap();
        let next = Digest::from_name(digest)
            .unwrap()
            .next_after(instant.parse().unwrap(), &zone);
        next.to_zoned(zone).strftime("%Y-%m-%dT%H:%M%:z").to_string()
    }

    #[test]
    fn names_are_read_exactly() {
        for name in ["hourly", "daily at 00:00", "daily at 23:59"] {
            assert_eq!(Digest::from_name(name).unwrap().name(), name);
        }
        for name in [
            "",
            "daily",
            "daily at 24:00",
            "daily at 7:30",
            "daily at +7:30",
            "daily at 07:60",
            "Hourly",
        ] {
            assert_eq!(Digest::from_name(name), None, "{name}");
        }
    }

    #[test]
    fn hourly_digest_is_at_the_next_full_hour_of_the_time_zone() {
        let kathmandu = |instant| next("hourly", "Asia/Kathmandu", instant);
        assert_eq!(kathmandu("2026-03-02T10:14:59.9Z"), "2026-03-02T16:00+05:45");
        assert_eq!(kathmandu("2026-03-02T10:15:00Z"), "2026-03-02T17:00+05:45");
    }

    #[test]
    fn hourly_digest_follows_daylight_saving_time() {
        let new_york = |instant| next("hourly", "America/New_York", instant);
        assert_eq!(new_york("2026-03-08T01:30:00-05:00"), "2026-03-08T03:00-04:00");
        assert_eq!(new_york("2026-11-01T01:30:00-04:00"), "2026-11-01T01:00-05:00");
        assert_eq!(new_york("2026-11-01T01:30:00-05:00"), "2026-11-01T02:00-05:00");
    }

    #[test]
    fn daily_digest_is_at_the_next_time_of_day() {
        let berlin = |instant| next("daily at 07:30", "Europe/Berlin", instant);
        assert_eq!(berlin("2026-03-02T07:29:59+01:00"), "2026-03-02T07:30+01:00");
        assert_eq!(berlin("2026-03-02T07:30:00+01:00"), "2026-03-03T07:30+01:00");
    }

    #[test]
    fn daily_digest_in_a_skipped_hour_is_an_hour_later() {
        assert_eq!(
            next("daily at 02:30", "America/New_York", "2026-03-08T00:00:00-05:00"),
            "2026-03-08T03:30-04:00"
        );
        assert_eq!(
            next("daily at 01:30", "America/New_York", "2026-11-01T00:00:00-04:00"),
            "2026-11-01T01:30-04:00"
        );
    }

    #[test]
    fn day_starts_at_midnight_of_the_time_zone() {
        let zone = TimeZone::get("America/New_York").unwrap();
        let start = day_start("2026-03-02T04:59:59Z".parse().unwrap(), &zone);
        assert_eq!(start.to_string(), "2026-03-01T05:00:00Z");
    }
}
