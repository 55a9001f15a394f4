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

/// The part of a text: words, or an instant.
enum TextPart<'a> {
    Words(&'a str),
    Instant(Timestamp),
}

/// Splits a text at its instants in RFC 3339 format.
fn parts_of(text: &str) -> Vec<TextPart<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    let mut from = 0;
    while let Some(begin) = rest[from..]
        .find(|letter: char| letter.is_ascii_digit())
        .map(|at| from + at)
    {
        let is_of_instant = |letter: char| letter.is_ascii_digit() || matches!(letter, '-' | ':' | '.' | 'T' | 'Z');
        let length = rest[begin..]
            .find(|letter| !is_of_instant(letter))
            .unwrap_or(rest.len() - begin);
        let end = begin + rest[begin..begin + length].trim_end_matches(['.', ':', '-']).len();
        match rest[begin..end].parse() {
            Ok(at) => {
                parts.extend([TextPart::Words(&rest[..begin]), TextPart::Instant(at)]);
                (rest, from) = (&rest[end..], 0);
            }
            Err(_) => from = begin + length.max(1),
        }
    }
    parts.push(TextPart::Words(rest));
    parts
}

/// Returns whether a text names an instant.
#[must_use]
pub fn has_instant(text: &str) -> bool {
    parts_of(text).len() > 1
}

/// Returns a text as HTML, in which instants are those of a person's time zone.
#[must_use]
pub fn text_with_local_times(text: &str, zone: &TimeZone, now: Timestamp) -> String {
    let parts = parts_of(text).into_iter().map(|part| match part {
        // Rendering to a string cannot fail.
        TextPart::Words(words) => askama::filters::escape(words, askama::filters::Html)
            .map(|escaped| escaped.to_string())
            .unwrap_or_default(),
        TextPart::Instant(at) => LocalTime::new(at, zone, now).html(),
    });
    parts.collect()
}

/// Returns a text in which instants are those of a person's time zone, for places that take no HTML.
#[must_use]
pub fn plain_with_local_times(text: &str, zone: &TimeZone, now: Timestamp) -> String {
    let parts = parts_of(text).into_iter().map(|part| match part {
        TextPart::Words(words) => words.to_owned(),
        TextPart::Instant(at) => LocalTime::new(at, zone, now).short,
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_within_a_text_are_local() {
        let zone = TimeZone::get("America/New_York").unwrap();
        let now = "2026-03-02T20:00:00Z".parse().unwrap();
        let html = |text: &str| text_with_local_times(text, &zone, now);
        assert_eq!(
            html("the cooldown ends at 2026-03-02T20:30:00Z; <b> & 1.5"),
            "the cooldown ends at <time datetime=\"2026-03-02T20:30:00.000Z\" title=\"2026-03-02 15:30:00.000 -05:00\">15:30:00</time>; \
             &#60;b&#62; &#38; 1.5"
        );
        assert_eq!(
            plain_with_local_times("until 2026-01-01T05:00:00.123456Z.", &zone, now),
            "until Jan 1, 00:00."
        );
        for text in ["", "2030-01-31", "12:30", "AAPL 1.2.3 — 5é", "T1Z"] {
            assert_eq!(plain_with_local_times(text, &zone, now), text);
        }
    }

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
