//! The member `options` of a request.

use serde_json::{Map, Value};

use super::ParseContext;
use super::fields::{FieldErrors, InvalidField, member};
use crate::condition::Condition;
use crate::options::{AlertOptions, Repeat, check_fit, parse_options};

/// Reads the options and checks that they fit the condition, if that is valid; `None` if they are omitted.
pub(super) fn read(
    body: &Map<String, Value>,
    condition: Option<&Condition>,
    context: &ParseContext<'_>,
    errors: &mut FieldErrors,
) -> Result<Option<AlertOptions>, InvalidField> {
    let Some(original) = body.get("options") else {
        return Ok(None);
    };
    let repeating = condition.and_then(|condition| repeated(original, condition));
    let sent = repeating
        .transpose()
        .map_err(|message| errors.add("options.repeat", message))?;
    let sent = sent.as_ref().unwrap_or(original);
    let options = parse_options(sent, context).map_err(|invalid| errors.append(invalid))?;
    fit(options, condition, errors).map(Some)
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

/// Returns the options of a condition, if that is valid, and checks that they fit.
pub(super) fn fit(
    options: AlertOptions,
    condition: Option<&Condition>,
    errors: &mut FieldErrors,
) -> Result<AlertOptions, InvalidField> {
    let Some(condition) = condition else {
        return Ok(options);
    };
    let options = options.of_condition(condition);
    check_fit(&options, condition).map_err(|invalid| errors.append(invalid))?;
    Ok(options)
}
