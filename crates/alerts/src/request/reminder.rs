//! The moment of a `reminder`.
//!
//! The canonical parameter is `date`: a day, which means the market's open on that day (09:30 New York on a closed day), or a
//! date-time. `reminder_date` with `reminder_time` is accepted too. Without any date, the threshold is the number of calendar
//! days ahead. All forms are stored in `date`: a day as `2030-01-31`, a date-time as an instant in UTC with milliseconds,
//! `2030-01-31T14:30:00.000Z`.

use jiff::civil::Time;
use jiff::{Span, Timestamp};
use market::Decimal;
use market::calendar::new_york_date;

use super::ParseContext;
use super::date::DateOrInstant::{Day, Instant};
use super::date::{DATE_FORMS, DateOrInstant, on_account_clock, parse, to_milliseconds};
use super::fields::{FieldErrors, InvalidField, kind_of};
use super::numbers::Threshold;
use super::parameters::{Parameters, SentParameter};
use crate::condition::ConditionKind;

/// A date in a request, with the field in which it was sent.
struct SentDate {
    field: String,
    when: DateOrInstant,
}

/// Reads the moment of a reminder and writes `date`. The moment must not be in the past, unless it equals the alert's current moment.
pub(super) fn read(
    threshold: Threshold<'_>,
    current: Option<Timestamp>,
    parameters: &mut Parameters,
    context: &ParseContext<'_>,
    errors: &mut FieldErrors,
) -> Result<Timestamp, InvalidField> {
    // All parameters are read before the first error is returned, so that no error hides another.
    let date = read_date(parameters, "date", context, errors);
    let other = read_date(parameters, "reminderDate", context, errors);
    let time = read_time(parameters, errors);
    let (field, when) = match combine(date?, other?, time?, context, errors)? {
        Some(SentDate { field, when }) => (field, when),
        None => ("threshold".to_owned(), days_ahead(threshold, context, errors)?),
    };
    let (at, written) = match when {
        Day(date) => (context.calendar.daily_evaluation_time(date), date.to_string()),
        Instant(at) => (at, format!("{at:.3}")),
    };
    if at < context.now && current.map(to_milliseconds) != Some(at) {
        let now = context.now;
        let message = format!(
            "means {at:.0}, which is in the past; give a moment after {now:.0} \
             (a date alone means 09:30 in New York)"
        );
        return Err(errors.add(field, message));
    }
    parameters.write("date", written);
    Ok(at)
}

/// Combines the dates and the time of a request; `None` if there is no date.
fn combine(
    date: Option<SentDate>,
    other: Option<SentDate>,
    time: Option<Time>,
    context: &ParseContext<'_>,
    errors: &mut FieldErrors,
) -> Result<Option<SentDate>, InvalidField> {
    let Some(time) = time else {
        return agree(date, other, errors);
    };
    let has_day = [&date, &other]
        .into_iter()
        .flatten()
        .any(|sent| matches!(sent.when, Day(_)));
    if !has_day {
        let (field, message) = if date.is_none() && other.is_none() {
            let message = "is required with parameters.reminder_time; give a date such as 2030-01-31";
            ("parameters.reminder_date", message)
        } else {
            let message = "must be omitted, because the date already has a time";
            ("parameters.reminder_time", message)
        };
        return Err(errors.add(field, message));
    }
    let date = date.map(|sent| sent.at_time(time, context));
    let other = other.map(|sent| sent.at_time(time, context));
    agree(date, other, errors)
}

/// Returns one of two dates. They must be equal.
fn agree(
    date: Option<SentDate>,
    other: Option<SentDate>,
    errors: &mut FieldErrors,
) -> Result<Option<SentDate>, InvalidField> {
    match (date, other) {
        (Some(date), Some(other)) if date.when != other.when => {
            let message = format!("contradicts {}; send only {0}", date.field);
            Err(errors.add(other.field, message))
        }
        (date, other) => Ok(date.or(other)),
    }
}

impl SentDate {
    /// Returns the date at this time of day in the account's time zone.
    fn at_time(self, time: Time, context: &ParseContext<'_>) -> Self {
        let when = match self.when {
            Day(date) => on_account_clock(date.to_datetime(time), context.time_zone).unwrap_or(Day(date)),
            instant @ Instant(_) => instant,
        };
        Self { when, ..self }
    }
}

/// Returns the day of a reminder that has no date.
fn days_ahead(
    threshold: Threshold<'_>,
    context: &ParseContext<'_>,
    errors: &mut FieldErrors,
) -> Result<DateOrInstant, InvalidField> {
    let Some(days) = threshold
        .read(ConditionKind::Reminder, errors)?
        .and_then(Decimal::as_whole)
    else {
        let message = format!("is required for reminder; give {DATE_FORMS}");
        return Err(errors.add("parameters.date", message));
    };
    let today = new_york_date(context.now);
    Ok(Day(today.saturating_add(Span::new().days(days))))
}

/// Reads a parameter that is a date or a date-time.
fn read_date(
    parameters: &mut Parameters,
    name: &'static str,
    context: &ParseContext<'_>,
    errors: &mut FieldErrors,
) -> Result<Option<SentDate>, InvalidField> {
    let Some(SentParameter { field, value }) = parameters.take(name, errors)? else {
        return Ok(None);
    };
    let Some(text) = value.as_str() else {
        let kind = kind_of(&value);
        return Err(errors.add(field, format!("must be {DATE_FORMS}, not {kind}")));
    };
    match parse(text.trim(), context.time_zone) {
        Some(when) => Ok(Some(SentDate { field, when })),
        None => Err(errors.add(field, format!("must be {DATE_FORMS}"))),
    }
}

/// Reads `reminder_time`.
fn read_time(parameters: &mut Parameters, errors: &mut FieldErrors) -> Result<Option<Time>, InvalidField> {
    let Some(SentParameter { field, value }) = parameters.take("reminderTime", errors)? else {
        return Ok(None);
    };
    let text = value.as_str().map(str::trim).unwrap_or_default();
    let has_shape = matches!(text.len(), 5 | 8)
        && text.bytes().enumerate().all(|(place, byte)| match place {
            2 | 5 => byte == b':',
            _ => byte.is_ascii_digit(),
        });
    match text.parse().ok().filter(|_| has_shape) {
        Some(time) => Ok(Some(time)),
        None => Err(errors.add(field, "must be a time of day as HH:MM, such as 09:30")),
    }
}
