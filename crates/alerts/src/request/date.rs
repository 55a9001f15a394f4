//! Dates and date-times in requests.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

/// The accepted forms, as text that continues after "must be".
pub(crate) const DATE_FORMS: &str = "a date such as 2030-01-31 or a date-time such as 2030-01-31T09:30:00-05:00";

/// A date, or a date-time as an instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DateOrInstant {
    /// A day.
    Day(Date),
    /// An instant in whole milliseconds.
    Instant(Timestamp),
}

/// Reads a date or a date-time. A date-time without an offset is in the account's time zone.
pub(crate) fn parse(text: &str, zone: &TimeZone) -> Option<DateOrInstant> {
    const DATE_LENGTH: usize = "2030-01-31".len();
    if text.len() == DATE_LENGTH {
        return text.parse().ok().map(DateOrInstant::Day);
    }
    // A named time zone would be ignored below and change the meaning of the date-time.
    if text.contains('[') || !text.contains(['T', 't', ' ']) {
        return None;
    }
    if let Ok(at) = text.parse::<Timestamp>() {
        return Some(DateOrInstant::Instant(to_milliseconds(at)));
    }
    on_account_clock(text.parse().ok()?, zone)
}

/// Returns the instant of a local time in the account's time zone. In a gap (a skipped local time) the later reading is used, in
/// a fold (a repeated local time) the earlier one.
pub(super) fn on_account_clock(local: DateTime, zone: &TimeZone) -> Option<DateOrInstant> {
    let at = zone.to_ambiguous_timestamp(local).compatible().ok()?;
    Some(DateOrInstant::Instant(to_milliseconds(at)))
}

/// Truncates the instant to the milliseconds of its canonical text.
pub(super) fn to_milliseconds(at: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(at.as_millisecond()).unwrap_or(at)
}
