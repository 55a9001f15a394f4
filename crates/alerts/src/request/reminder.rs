//! The moment of a `reminder`.
//!
//! The written name is `date`: a day, which means the market's open of that day (09:30 New York on
//! a closed one), or a date-time. `reminder_date` with `reminder_time` is read as well, and a
//! reminder without any date is set as many calendar days ahead as its threshold says. All of them
//! end up in `date`: a day as `2030-01-31`, a date-time as an instant in UTC with milliseconds,
//! `2030-01-31T14:30:00.000Z`.

use jiff::civil::{Date, DateTime, Time};
use jiff::fmt::temporal::DateTimePrinter;
use jiff::{Span, Timestamp};
use market::calendar::new_york_date;

use super::Context;
use super::fields::{Faults, Noted, kind_of};
use super::numbers::{self, Threshold};
use super::parameters::{Own, Parameters};
use crate::condition::{Condition, ConditionKind};

const DATE_FORMS: &str = "a date such as 2030-01-31 or a date-time such as 2030-01-31T09:30:00-05:00";

/// What a text says about when.
#[derive(PartialEq)]
enum When {
    Day(Date),
    Instant(Timestamp),
}

/// A date that was sent, and the field that it was sent in.
struct Sent {
    field: String,
    when: When,
}

/// Reads a reminder. Its moment must not be past, unless it is the one that the alert already has.
pub(super) fn read(
    threshold: Threshold<'_>,
    standing: Option<Timestamp>,
    parameters: &mut Parameters,
    context: &Context<'_>,
    faults: &mut Faults,
) -> Result<Condition, Noted> {
    let date = date(parameters, "date", context, faults);
    let other = date_of_two(parameters, context, faults);
    let (date, (other, time)) = (date?, other?);
    let chosen = choose(date, other, time, context, faults)?;
    let (field, when) = match chosen {
        Some(Sent { field, when }) => (field, when),
        None => ("threshold".to_owned(), days_ahead(threshold, context, faults)?),
    };
    let (at, written) = match when {
        Day(date) => (context.calendar.daily_moment(date), date.to_string()),
        Instant(at) => (at, canonical(at)),
    };
    if at < context.now && standing.map(to_milliseconds) != Some(at) {
        let now = context.now;
        let message = format!(
            "means {at:.0}, which is in the past; give a moment after {now:.0} \
             (a date alone means 09:30 in New York)"
        );
        return Err(faults.note(field, message));
    }
    parameters.write("date", written);
    Ok(Condition::Reminder { at })
}

use When::{Day, Instant};

/// `reminder_date` and `reminder_time`.
fn date_of_two(
    parameters: &mut Parameters,
    context: &Context<'_>,
    faults: &mut Faults,
) -> Result<(Option<Sent>, Option<Time>), Noted> {
    let date = date(parameters, "reminderDate", context, faults);
    let time = time(parameters, faults);
    Ok((date?, time?))
}

/// Makes one moment of all that was sent; `None` when nothing was.
fn choose(
    date: Option<Sent>,
    other: Option<Sent>,
    time: Option<Time>,
    context: &Context<'_>,
    faults: &mut Faults,
) -> Result<Option<Sent>, Noted> {
    let Some(time) = time else {
        return agree(date, other, faults);
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
            let message = "must be omitted, because the date has a time of its own";
            ("parameters.reminder_time", message)
        };
        return Err(faults.note(field, message));
    }
    let date = date.map(|sent| sent.at_time(time, context));
    let other = other.map(|sent| sent.at_time(time, context));
    agree(date, other, faults)
}

/// Of two dates either, if they are the same.
fn agree(date: Option<Sent>, other: Option<Sent>, faults: &mut Faults) -> Result<Option<Sent>, Noted> {
    match (date, other) {
        (Some(date), Some(other)) if !date.when.same(&other.when) => {
            let message = format!("contradicts {}; send only {0}", date.field);
            Err(faults.note(other.field, message))
        }
        (date, other) => Ok(date.or(other)),
    }
}

impl Sent {
    /// At that time of its day, on the clocks of the account.
    fn at_time(self, time: Time, context: &Context<'_>) -> Self {
        let when = match self.when {
            Day(date) => on_account_clock(date.to_datetime(time), context).unwrap_or(Day(date)),
            instant @ Instant(_) => instant,
        };
        Self { when, ..self }
    }
}

impl When {
    fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Day(one), Day(other)) => one == other,
            (Instant(one), Instant(other)) => one == other,
            _ => false,
        }
    }
}

/// The day that a reminder without a date is meant for.
fn days_ahead(threshold: Threshold<'_>, context: &Context<'_>, faults: &mut Faults) -> Result<When, Noted> {
    let days = match threshold {
        Threshold::Absent | Threshold::Kept(_) => None,
        Threshold::Sent(_) => threshold.optional(ConditionKind::Reminder, &numbers::REMINDER_DAYS, faults)?,
    };
    let Some(days) = days else {
        let message = format!("is required for reminder; give {DATE_FORMS}");
        return Err(faults.note("parameters.date", message));
    };
    let today = new_york_date(context.now);
    Ok(Day(today.saturating_add(Span::new().days(days))))
}

/// Reads a parameter that is a date or a date-time.
fn date(
    parameters: &mut Parameters,
    name: &'static str,
    context: &Context<'_>,
    faults: &mut Faults,
) -> Result<Option<Sent>, Noted> {
    let Some(Own { field, value }) = parameters.take(name, faults)? else {
        return Ok(None);
    };
    let Some(text) = value.as_str() else {
        let kind = kind_of(&value);
        return Err(faults.note(field, format!("must be {DATE_FORMS}, not {kind}")));
    };
    match parse(text.trim(), context) {
        Some(when) => Ok(Some(Sent { field, when })),
        None => Err(faults.note(field, format!("must be {DATE_FORMS}"))),
    }
}

fn parse(text: &str, context: &Context<'_>) -> Option<When> {
    const DATE_LENGTH: usize = "2030-01-31".len();
    if text.len() == DATE_LENGTH {
        return text.parse().ok().map(Day);
    }
    // A named zone would be dropped below, and the date-time mean something else.
    if text.contains('[') || !text.contains(['T', 't', ' ']) {
        return None;
    }
    if let Ok(at) = text.parse::<Timestamp>() {
        return Some(Instant(to_milliseconds(at)));
    }
    on_account_clock(text.parse().ok()?, context)
}

/// The instant at which the account's clocks show that; the later of the two readings of a time
/// that they skip, the earlier of a time that they show twice.
fn on_account_clock(local: DateTime, context: &Context<'_>) -> Option<When> {
    let zone = context.time_zone;
    let at = zone.to_ambiguous_timestamp(local).compatible().ok()?;
    Some(Instant(to_milliseconds(at)))
}

/// The instant as precisely as its text says it.
fn to_milliseconds(at: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(at.as_millisecond()).unwrap_or(at)
}

/// RFC 3339 in UTC with milliseconds.
fn canonical(at: Timestamp) -> String {
    DateTimePrinter::new().precision(Some(3)).timestamp_to_string(&at)
}

/// Reads `reminder_time`.
fn time(parameters: &mut Parameters, faults: &mut Faults) -> Result<Option<Time>, Noted> {
    let Some(Own { field, value }) = parameters.take("reminderTime", faults)? else {
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
        None => Err(faults.note(field, "must be a time of day as HH:MM, such as 09:30")),
    }
}
