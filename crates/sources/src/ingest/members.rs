//! The members of one element, asked for by name.

use jiff::civil::Date;
use jiff::{SignedDuration, Span, Timestamp};
use market::calendar::new_york_date;
use serde_json::{Map, Value};

use crate::folder::{Excerpt, Problem};

/// How far ahead of this program's clock another's may be.
const CLOCK_LEEWAY: SignedDuration = SignedDuration::from_mins(5);
/// How far ahead a date may be announced, in days.
const MAX_DAYS_AHEAD: i64 = 1_000;
/// The first year of which data are taken.
const FIRST_YEAR: i16 = 1900;
/// How long a name may be, in characters.
const MAX_NAME_CHARS: usize = 200;

/// One element's members.
pub(super) struct Members<'a> {
    object: &'a Map<String, Value>,
    now: Timestamp,
}

impl<'a> Members<'a> {
    /// The members of `element`, which came in at `now`.
    pub(super) fn of(element: &'a Value, now: Timestamp) -> Result<Self, String> {
        let object = element.as_object().ok_or("must be an object")?;
        Ok(Self { object, now })
    }

    /// The members of the object that is a member itself; this element's own where there is none.
    pub(super) fn within(&self, name: &str) -> Members<'a> {
        let inner = self.object.get(name).and_then(Value::as_object);
        Members {
            object: inner.unwrap_or(self.object),
            now: self.now,
        }
    }

    /// The date in New York when the element came in.
    pub(super) fn today(&self) -> Date {
        new_york_date(self.now)
    }

    /// What `read` makes of the member's text; `None` when it is left out or null.
    pub(super) fn optional<T>(
        &self,
        name: &str,
        read: impl FnOnce(&str) -> Result<T, Problem>,
    ) -> Result<Option<T>, String> {
        let text = match self.object.get(name) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::String(text)) => text.trim().to_owned(),
            // The text of a JSON number is what its sender wrote, where its float would be near it.
            Some(Value::Number(number)) => number.to_string(),
            Some(Value::Bool(flag)) => flag.to_string(),
            Some(Value::Array(_)) => return Err(format!("{name} must be a single value, not an array")),
            Some(Value::Object(_)) => return Err(format!("{name} must be a single value, not an object")),
        };
        let value = if text.is_empty() {
            Err(Problem::Empty)
        } else {
            read(&text)
        };
        value
            .map(Some)
            .map_err(|problem| format!("{name} {} {problem}", Excerpt::of_value(text.as_bytes())))
    }

    /// What `read` makes of the member's text.
    pub(super) fn required<T>(&self, name: &str, read: impl FnOnce(&str) -> Result<T, Problem>) -> Result<T, String> {
        self.optional(name, read)?
            .ok_or_else(|| format!("{name} is missing; send it"))
    }

    /// A name: text of a bounded length that is fit to be shown.
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

    /// `date` if something can have been known on it.
    pub(super) fn past(&self, name: &str, date: Date) -> Result<Date, String> {
        let tomorrow = new_york_date(self.latest());
        if date > tomorrow {
            return Err(format!(
                "{name} {date} lies in the future; send it when that day has come"
            ));
        }
        not_ancient(name, date)
    }

    /// `date` if something can have been announced for it.
    pub(super) fn announced(&self, name: &str, date: Date) -> Result<Date, String> {
        let last = self.today().checked_add(Span::new().days(MAX_DAYS_AHEAD));
        if last.is_ok_and(|last| date > last) {
            return Err(format!(
                "{name} {date} lies more than {MAX_DAYS_AHEAD} days ahead; is the year right?"
            ));
        }
        not_ancient(name, date)
    }

    /// `time` if it has come, as far as clocks agree.
    pub(super) fn passed(&self, name: &str, time: Timestamp) -> Result<Timestamp, String> {
        if time > self.latest() {
            return Err(format!(
                "{name} {time} lies more than {} minutes in the future; are the clock and the offset right?",
                CLOCK_LEEWAY.as_mins()
            ));
        }
        not_ancient(name, new_york_date(time))?;
        Ok(time)
    }

    fn latest(&self) -> Timestamp {
        self.now.saturating_add(CLOCK_LEEWAY).unwrap_or(Timestamp::MAX)
    }
}

fn not_ancient(name: &str, date: Date) -> Result<Date, String> {
    if date.year() < FIRST_YEAR {
        return Err(format!("{name} {date} lies before {FIRST_YEAR}; is the year right?"));
    }
    Ok(date)
}
