//! Moments that people enter.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// Reads a date and time in an account's time zone.
///
/// # Errors
/// The message for the field.
pub(super) fn local_moment(zone: &TimeZone, text: &str) -> Result<Timestamp, &'static str> {
    let moment = text.parse::<DateTime>().ok();
    let moment = moment.and_then(|moment| moment.to_zoned(zone.clone()).ok());
    let moment = moment.ok_or("must be a date and time such as 2026-03-02T09:30")?;
    Ok(moment.timestamp())
}
