//! Access to the members of one element by name.

use jiff::civil::Date;
use jiff::{SignedDuration, Span, Timestamp};
use market::calendar::new_york_date;
use serde_json::{Map, Value};

use crate::folder::{Excerpt, FieldError};

/// The maximum time by which a sender's clock may be ahead of ours.
const MAX_CLOCK_SKEW: SignedDuration = SignedDuration::from_mins(5);
/// The maximum number of days by which a date may be announced in advance.
const MAX_ANNOUNCED_DAYS_AHEAD: i64 = 1_000;
/// The first year of which data is accepted.
const FIRST_YEAR: i16 = 1900;
/// The maximum length of a name, in characters.
const MAX_NAME_CHARS: usize = 200;

/// The members of an element.
pub(super) struct Members<'a> {
    object: &'a Map<String, Value>,
    now: Timestamp,
}

impl<'a> Members<'a> {
    /// Returns the members of `element`, which was received at `now`.
    pub(super) fn of(element: &'a Value, now: Timestamp) -> Result<Self, String> {
        let object = element.as_object().ok_or("must be an object")?;
        Ok(Self { object, now })
    }

    /// Returns the members of the object `name`; the element's own members if there is no such object.
    pub(super) fn nested(&self, name: &str) -> Members<'a> {
        let inner = self.object.get(name).and_then(Value::as_object);
        Members {
            object: inner.unwrap_or(self.object),
            now: self.now,
        }
    }

    /// Returns the date in New York when the element was received.
    pub(super) fn today(&self) -> Date {
        new_york_date(self.now)
    }

    /// Parses the text of a member with `read`. Returns `None` if the member is missing or null.
    pub(super) fn optional<T>(
        &self,
        name: &str,
        read: impl FnOnce(&str) -> Result<T, FieldError>,
    ) -> Result<Option<T>, String> {
        let text = match self.object.get(name) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::String(text)) => text.trim().to_owned(),
            // The text of a JSON number is exact; a float would not be.
            Some(Value::Number(number)) => number.to_string(),
            Some(Value::Bool(flag)) => flag.to_string(),
            Some(Value::Array(_)) => return Err(format!("{name} must be a single value, not an array")),
            Some(Value::Object(_)) => return Err(format!("{name} must be a single value, not an object")),
        };
        let value = if text.is_empty() {
            Err(FieldError::Empty)
        } else {
            read(&text)
        };
        value
            .map(Some)
            .map_err(|problem| format!("{name} {} {problem}", Excerpt::of_value(text.as_bytes())))
    }

    /// Parses the text of a member with `read`. The member is required.
    pub(super) fn required<T>(
        &self,
        name: &str,
        read: impl FnOnce(&str) -> Result<T, FieldError>,
    ) -> Result<T, String> {
        self.optional(name, read)?
            .ok_or_else(|| format!("{name} is missing; send it"))
    }

    /// Reads a name: displayable text of a bounded length.
    pub(super) fn name(&self, name: &str) -> Result<Option<String>, String> {
        let Some(text) = self.optional(name, |text| Ok(text.to_owned()))? else {
            return Ok(None);
        };
        if text.chars().any(char::is_control) {
            return Err(format!("{name} has control characters; send plain text"));
        }
        if text.chars().count() > MAX_NAME_CHARS {
            return Err(format!("{name} is longer than {MAX_NAME_CHARS} characters; shorten it"));
        }
        Ok(Some(text))
    }

    /// Returns `date` if it is not in the future.
    pub(super) fn known_date(&self, name: &str, date: Date) -> Result<Date, String> {
        let tomorrow = new_york_date(self.latest_plausible_time());
        if date > tomorrow {
            return Err(format!(
                "{name} {date} lies in the future; send it when that day has come"
            ));
        }
        check_first_year(name, date)
    }

    /// Returns `date` if it is not too far ahead to be announced.
    pub(super) fn announced_date(&self, name: &str, date: Date) -> Result<Date, String> {
        let last = self.today().checked_add(Span::new().days(MAX_ANNOUNCED_DAYS_AHEAD));
        if last.is_ok_and(|last| date > last) {
            return Err(format!(
                "{name} {date} lies more than {MAX_ANNOUNCED_DAYS_AHEAD} days ahead; is the year right?"
            ));
        }
        check_first_year(name, date)
    }

    /// Returns `time` if it is not in the future, allowing for clock skew.
    pub(super) fn past_time(&self, name: &str, time: Timestamp) -> Result<Timestamp, String> {
        if time > self.latest_plausible_time() {
            return Err(format!(
                "{name} {time} lies more than {} minutes in the future; are the clock and the offset right?",
                MAX_CLOCK_SKEW.as_mins()
            ));
        }
        check_first_year(name, new_york_date(time))?;
        Ok(time)
    }

    fn latest_plausible_time(&self) -> Timestamp {
        self.now.saturating_add(MAX_CLOCK_SKEW).unwrap_or(Timestamp::MAX)
    }
}

fn check_first_year(name: &str, date: Date) -> Result<Date, String> {
    if date.year() < FIRST_YEAR {
        return Err(format!("{name} {date} lies before {FIRST_YEAR}; is the year right?"));
    }
    Ok(date)
}
