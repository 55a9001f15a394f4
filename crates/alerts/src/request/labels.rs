//! The `note`, the `tags` and the `managed_by` of a request.

use serde_json::{Map, Value};

use super::fields::{FieldErrors, InvalidField, kind_of};
use crate::managed_by::ManagedBy;
use crate::note::Note;
use crate::tags::Tags;

/// Reads the member `note`. The outer `None`: it is omitted. The inner `None`: it is null or blank.
pub(super) fn note(body: &Map<String, Value>, errors: &mut FieldErrors) -> Result<Option<Option<Note>>, InvalidField> {
    let note = match body.get("note") {
        None => return Ok(None),
        Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Note::read(text).map_err(|error| error.to_string()),
        Some(other) => Err(format!("must be a string or null, not {}", kind_of(other))),
    };
    note.map(Some).map_err(|message| errors.add("note", message))
}

/// Reads the member `tags`; `None` if it is omitted. A null is an empty list.
pub(super) fn tags(body: &Map<String, Value>, errors: &mut FieldErrors) -> Result<Option<Tags>, InvalidField> {
    let tags = match body.get("tags") {
        None => return Ok(None),
        Some(Value::Null) => Ok(Tags::default()),
        Some(Value::Array(values)) => read_tags(values),
        Some(other) => Err(format!("must be an array of strings or null, not {}", kind_of(other))),
    };
    tags.map(Some).map_err(|message| errors.add("tags", message))
}

fn read_tags(values: &[Value]) -> Result<Tags, String> {
    let texts: Option<Vec<&str>> = values.iter().map(Value::as_str).collect();
    let texts = texts.ok_or("must be an array of strings")?;
    Tags::read(texts.into_iter()).map_err(|error| error.to_string())
}

/// Reads the member `managed_by` of the body of an update request. The outer `None`: it is omitted. The inner `None`: it is null.
///
/// # Errors
/// [`FieldErrors`], such as of `managed_by.name`.
pub fn read_managed_by(body: &Value) -> Result<Option<Option<ManagedBy>>, FieldErrors> {
    let Some(body) = body.as_object() else {
        return Ok(None);
    };
    let mut errors = FieldErrors::default();
    managed_by(body, &mut errors).map_err(|InvalidField| errors)
}

/// Reads the member `managed_by`. The outer `None`: it is omitted. The inner `None`: it is null.
pub(super) fn managed_by(
    body: &Map<String, Value>,
    errors: &mut FieldErrors,
) -> Result<Option<Option<ManagedBy>>, InvalidField> {
    match body.get("managed_by") {
        None => Ok(None),
        Some(Value::Null) => Ok(Some(None)),
        Some(value) => ManagedBy::read(value)
            .map(|managed| Some(Some(managed)))
            .map_err(|found| {
                for (field, message) in found {
                    errors.add(field, message);
                }
                InvalidField
            }),
    }
}
