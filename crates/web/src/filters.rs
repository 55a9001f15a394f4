//! Filters of the templates.

use askama::filters::Safe;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::local_time::{LocalTime, plain_with_local_times, text_with_local_times};
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

/// Returns a text whose instants are `time` elements in an account's time zone.
#[askama::filter_fn]
pub(crate) fn local_times(
    text: &str,
    _: &dyn askama::Values,
    zone: &TimeZone,
    now: &Timestamp,
) -> askama::Result<Safe<String>> {
    Ok(Safe(text_with_local_times(text, zone, *now)))
}

/// Returns a text whose instants are those of an account's time zone, for attributes.
#[askama::filter_fn]
pub(crate) fn plain_times(
    text: &str,
    _: &dyn askama::Values,
    zone: &TimeZone,
    now: &Timestamp,
) -> askama::Result<String> {
    Ok(plain_with_local_times(text, zone, *now))
}
