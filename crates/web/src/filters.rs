//! Filters of the templates.

use askama::filters::Safe;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::local_time::LocalTime;
use crate::texts;

/// Returns the text with this id.
#[askama::filter_fn]
pub(crate) fn t(id: &str, _: &dyn askama::Values) -> askama::Result<String> {
    Ok(texts::text(id))
}

/// Returns a `time` element in an account's time zone, with the exact instant as its title.
#[askama::filter_fn]
pub(crate) fn local_time(
    at: &Timestamp,
    _: &dyn askama::Values,
    zone: &TimeZone,
    now: &Timestamp,
) -> askama::Result<Safe<String>> {
    // Each part is made of digits, names of months and names of zones, so it needs no escaping.
    Ok(Safe(LocalTime::new(*at, zone, *now).html()))
}
