//! The member `options` of a request.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::ParseContext;
use super::fields::{FieldErrors, InvalidField, member};
use crate::alert::Alert;
use crate::condition::Condition;
use crate::options::{AlertOptions, Repeat, check_fit, parse_changed_options};

/// Reads the options and checks that they fit the condition, if that is valid. Omitted options are those of the alert `current` that
/// an update changes, and the defaults of a new alert.
pub(super) fn read(
    body: &Map<String, Value>,
    condition: Option<&Condition>,
    current: Option<&Alert>,
    context: &ParseContext<'_>,
    errors: &mut FieldErrors,
) -> Result<AlertOptions, InvalidField> {
    let Some(original) = body.get("options") else {
        let options = current.map(|alert| alert.options.clone()).unwrap_or_default();
        return fit(options, condition, current, context.now, errors);
    };
    let repeating = condition.and_then(|condition| repeated(original, condition));
    let sent = repeating
        .transpose()
        .map_err(|message| errors.add("options.repeat", message))?;
    let sent = sent.as_ref().unwrap_or(original);
    let kept = current.and_then(|alert| alert.options.expires_at);
    let options = parse_changed_options(sent, kept, context).map_err(|invalid| errors.append(invalid))?;
    fit(options, condition, current, context.now, errors)
}

/// Returns the options of a daily reminder with the default of its `repeat`.
///
/// # Errors
/// The message about a `repeat` that is `once`.
fn repeated(sent: &Value, condition: &Condition) -> Option<Result<Value, &'static str>> {
    let (Value::Object(sent), Condition::DailyReminder(_)) = (sent, condition) else {
        return None;
    };
    match member(sent, "repeat").map(Value::as_str) {
        Some(Some("once")) => Some(Err(
            "must not be once for a daily reminder, which fires on every trading day; omit it, or give options.max_firings 1",
        )),
        Some(_) => None,
        None => {
            let mut repeating = sent.clone();
            repeating.insert("repeat".to_owned(), Repeat::EachTime.name().into());
            Some(Ok(Value::Object(repeating)))
        }
    }
}

/// Returns the options of a condition, if that is valid, and checks that they fit. An alert may keep a condition with its options,
/// so that a client can send back what it has read.
fn fit(
    options: AlertOptions,
    condition: Option<&Condition>,
    current: Option<&Alert>,
    now: Timestamp,
    errors: &mut FieldErrors,
) -> Result<AlertOptions, InvalidField> {
    let Some(condition) = condition else {
        return Ok(options);
    };
    let options = options.of_condition(condition);
    let is_kept = |alert: &Alert| {
        let present = alert.options.clone().without_ended_snooze(now);
        alert.condition == *condition && present == options.clone().without_ended_snooze(now)
    };
    if current.is_some_and(is_kept) {
        return Ok(options);
    }
    check_fit(&options, condition).map_err(|invalid| errors.append(invalid))?;
    Ok(options)
}
