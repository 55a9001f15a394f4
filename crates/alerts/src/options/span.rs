//! Lengths of time in options, such as `15m`, `2h` or `5d`.

use std::fmt;
use std::str::FromStr;

use jiff::SignedDuration;

/// The session time of one day, in minutes.
const SESSION_MINUTES_PER_DAY: u32 = 390;
/// The minutes of a calendar day.
const MINUTES_PER_DAY: u32 = 24 * 60;

/// A length of time as it was written: a whole number of minutes, hours or days.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Span {
    count: u32,
    unit: TimeUnit,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum TimeUnit {
    Minutes,
    Hours,
    Days,
}

/// An error: the text is not a length of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("must be a whole number of minutes, hours or days, such as 15m, 2h or 5d")]
pub struct SpanError;

/// A cooldown: 1 minute to 30 days of calendar time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Cooldown(Span);

/// A hold: 1 minute to 5 days of session time, a day having 390 minutes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Hold(Span);

impl Span {
    /// Returns the minutes if a day has `minutes_per_day`; `None` above 2³² minutes.
    fn minutes(self, minutes_per_day: u32) -> Option<u32> {
        self.count.checked_mul(match self.unit {
            TimeUnit::Minutes => 1,
            TimeUnit::Hours => 60,
            TimeUnit::Days => minutes_per_day,
        })
    }

    /// Returns the length in calendar time, a day having 24 hours; `None` above 2³² minutes.
    #[must_use]
    pub fn calendar_time(self) -> Option<SignedDuration> {
        Some(SignedDuration::from_mins(self.minutes(MINUTES_PER_DAY)?.into()))
    }
}

impl Cooldown {
    /// Returns the cooldown; `None` outside 1 minute to 30 days.
    #[must_use]
    pub fn new(span: Span) -> Option<Self> {
        let minutes = span.minutes(MINUTES_PER_DAY)?;
        (1..=30 * MINUTES_PER_DAY).contains(&minutes).then_some(Self(span))
    }

    /// Returns the length in calendar time.
    #[must_use]
    pub fn duration(self) -> SignedDuration {
        self.0.calendar_time().unwrap_or(SignedDuration::MAX)
    }

    /// Returns the length as it was written.
    #[must_use]
    pub const fn span(self) -> Span {
        self.0
    }
}

impl Hold {
    /// Returns the hold; `None` outside 1 minute to 5 days of session time.
    #[must_use]
    pub fn new(span: Span) -> Option<Self> {
        let minutes = span.minutes(SESSION_MINUTES_PER_DAY)?;
        (1..=5 * SESSION_MINUTES_PER_DAY)
            .contains(&minutes)
            .then_some(Self(span))
    }

    /// Returns the length in session time.
    #[must_use]
    pub fn session_time(self) -> SignedDuration {
        let minutes = self.0.minutes(SESSION_MINUTES_PER_DAY).unwrap_or(u32::MAX);
        SignedDuration::from_mins(minutes.into())
    }

    /// Returns the length as it was written.
    #[must_use]
    pub const fn span(self) -> Span {
        self.0
    }
}

impl FromStr for Span {
    type Err = SpanError;

    fn from_str(text: &str) -> Result<Self, SpanError> {
        let (digits, unit) = match text.as_bytes() {
            [digits @ .., b'm'] => (digits, TimeUnit::Minutes),
            [digits @ .., b'h'] => (digits, TimeUnit::Hours),
            [digits @ .., b'd'] => (digits, TimeUnit::Days),
            _ => return Err(SpanError),
        };
        if !digits.iter().all(u8::is_ascii_digit) {
            return Err(SpanError);
        }
        let digits = std::str::from_utf8(digits).map_err(|_| SpanError)?;
        let count = digits.parse().map_err(|_| SpanError)?;
        Ok(Self { count, unit })
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match self.unit {
            TimeUnit::Minutes => 'm',
            TimeUnit::Hours => 'h',
            TimeUnit::Days => 'd',
        };
        write!(f, "{}{unit}", self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(text: &str) -> Span {
        text.parse().unwrap()
    }

    #[test]
    fn spans_are_written_as_they_were_read() {
        for text in ["1m", "90m", "2h", "30d"] {
            assert_eq!(span(text).to_string(), text);
        }
    }

    #[test]
    fn other_texts_are_no_spans() {
        for text in [
            "",
            "m",
            "5",
            "5s",
            "+5m",
            "-5m",
            "1.5h",
            "5 m",
            "5M",
            "99999999999m",
            "é",
        ] {
            assert_eq!(text.parse::<Span>(), Err(SpanError), "{text}");
        }
    }

    #[test]
    fn cooldowns_last_from_one_minute_to_thirty_days() {
        for (text, is_valid) in [
            ("0m", false),
            ("1m", true),
            ("30d", true),
            ("720h", true),
            ("721h", false),
            ("31d", false),
        ] {
            assert_eq!(Cooldown::new(span(text)).is_some(), is_valid, "{text}");
        }
        assert_eq!(
            Cooldown::new(span("1d")).unwrap().duration(),
            SignedDuration::from_hours(24)
        );
    }

    #[test]
    fn holds_last_from_one_minute_to_five_days_of_session_time() {
        for (text, is_valid) in [
            ("0m", false),
            ("1m", true),
            ("5d", true),
            ("1950m", true),
            ("1951m", false),
            ("6d", false),
        ] {
            assert_eq!(Hold::new(span(text)).is_some(), is_valid, "{text}");
        }
        assert_eq!(
            Hold::new(span("1d")).unwrap().session_time(),
            SignedDuration::from_mins(390)
        );
    }
}
