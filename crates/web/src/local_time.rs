//! Times as a person reads them.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// An instant in a person's time zone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LocalTime {
    /// The instant in RFC 3339 format, in UTC.
    pub instant: String,
    /// The instant to the millisecond, with the offset of the zone.
    pub exact: String,
    /// The time of a moment today, the date and time of this year, or the date of another year.
    pub short: String,
}

impl LocalTime {
    /// Formats an instant. `now` decides how much of the date the short form needs.
    #[must_use]
    pub fn new(at: Timestamp, zone: &TimeZone, now: Timestamp) -> Self {
        let (local, today) = (at.to_zoned(zone.clone()), now.to_zoned(zone.clone()));
        let short = if local.date() == today.date() {
            "%H:%M:%S"
        } else if local.year() == today.year() {
            "%b %-d, %H:%M"
        } else {
            "%b %-d, %Y"
        };
        Self {
            instant: format!("{at:.3}"),
            exact: local.strftime("%Y-%m-%d %H:%M:%S%.3f %:z").to_string(),
            short: local.strftime(short).to_string(),
        }
    }

    /// Returns the `time` element.
    #[must_use]
    pub fn html(&self) -> String {
        let Self { instant, exact, short } = self;
        format!(r#"<time datetime="{instant}" title="{exact}">{short}</time>"#)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(at: &str) -> String {
        let zone = TimeZone::get("America/New_York").unwrap();
        let now = "2026-03-02T20:00:00Z".parse().unwrap();
        LocalTime::new(at.parse().unwrap(), &zone, now).short
    }

    #[test]
    fn short_form_has_as_much_of_the_date_as_is_needed() {
        assert_eq!(short("2026-03-02T14:30:05.123Z"), "09:30:05");
        assert_eq!(short("2026-03-02T04:59:59Z"), "Mar 1, 23:59");
        assert_eq!(short("2026-01-01T05:00:00Z"), "Jan 1, 00:00");
        assert_eq!(short("2026-01-01T04:59:59Z"), "Dec 31, 2025");
    }

    #[test]
    fn exact_instant_is_the_title() {
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        let at = "2026-03-02T14:30:05.123Z".parse().unwrap();
        assert_eq!(
            LocalTime::new(at, &zone, at).html(),
            r#"<time datetime="2026-03-02T14:30:05.123Z" title="2026-03-02 15:30:05.123 +01:00">15:30:05</time>"#
        );
    }
}
