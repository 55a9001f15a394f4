//! The `note` and the `tags` of a request.

use serde_json::{Map, Value};

use super::fields::{FieldErrors, InvalidField, kind_of};
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
