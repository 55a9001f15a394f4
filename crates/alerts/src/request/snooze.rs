//! The member `snooze` of a patch: another form of the option `snoozed_until`.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::fields::{FieldErrors, InvalidField};
use super::{ParseContext, RequestError, body};
use crate::alert::Alert;
use crate::options::Span;

const SNOOZE: &str = "snooze";

/// Returns the body of an update request that means the same as a patch with the member `snooze`: a duration from now such as `2h`,
/// `next_open`, or null to end the snooze. Any other body is returned as it is.
///
/// # Errors
/// [`RequestError`] if `snooze` is invalid, or if `options` is sent besides it.
pub fn without_snooze(current: &Alert, patch: &Value, context: &ParseContext<'_>) -> Result<Value, RequestError> {
    let object = body::object(patch)?;
    let Some(sent) = object.get(SNOOZE) else {
        return Ok(patch.clone());
    };
    let mut errors = FieldErrors::default();
    let replaced = replace(current, object, sent, context, &mut errors);
    replaced.map_err(|InvalidField| RequestError::Invalid(errors))
}

fn replace(
    current: &Alert,
    patch: &Map<String, Value>,
    sent: &Value,
    context: &ParseContext<'_>,
    errors: &mut FieldErrors,
) -> Result<Value, InvalidField> {
    if patch.contains_key("options") {
        return Err(errors.add(SNOOZE, "must be omitted if options is sent; give options.snoozed_until"));
    }
    let until = match sent {
        Value::Null => None,
        Value::String(text) => Some(end(text, context).ok_or_else(|| errors.add(SNOOZE, ALLOWED))?),
        _ => return Err(errors.add(SNOOZE, ALLOWED)),
    };
    let mut options = current.options.clone();
    options.snoozed_until = until;
    let mut replaced = patch.clone();
    replaced.remove(SNOOZE);
    replaced.insert("options".to_owned(), Value::Object(options.to_json()));
    Ok(Value::Object(replaced))
}

const ALLOWED: &str = "must be a duration of at least 1m such as 2h, next_open, or null to end the snooze";

/// Returns the end of a snooze.
fn end(text: &str, context: &ParseContext<'_>) -> Option<Timestamp> {
    if text == "next_open" {
        return context.calendar.next_open(context.now);
    }
    let span: Span = text.parse().ok()?;
    context.now.checked_add(span.calendar_time()?).ok()
}
