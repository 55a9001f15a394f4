//! The schemas of the note, the tags and the managed name in requests.

use alerts::MAX_MANAGED_NAME_CHARACTERS;
use alerts::condition::MAX_NOTE_CHARACTERS;
use alerts::tags::{MAX_TAG_CHARACTERS, MAX_TAGS};
use serde_json::{Value, json};

/// Returns the schema of a note.
pub(super) fn note() -> Value {
    json!({
        "type": ["string", "null"],
        "maxLength": MAX_NOTE_CHARACTERS,
        "pattern": "^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]*$",
        "description": "The owner's note, shown in every notification; null or blank for none. Not for guests",
    })
}

/// Returns the schema of tags.
pub(super) fn tags() -> Value {
    json!({
        "type": ["array", "null"],
        "maxItems": MAX_TAGS,
        "items": {
            "type": "string",
            "minLength": 1,
            "maxLength": MAX_TAG_CHARACTERS,
            "pattern": "^[^,\\u0000-\\u001f\\u007f-\\u009f]*[^,\\s\\u0000-\\u001f\\u007f-\\u009f][^,\\u0000-\\u001f\\u007f-\\u009f]*$",
        },
        "description": "The owner's tags, by which lists are filtered; null or empty for none. Equal tags count once. Not for guests",
    })
}

/// Returns the schema of the source that manages an alert and its name there.
pub(super) fn managed_by() -> Value {
    let text = |description: &str| {
        json!({
            "type": "string",
            "minLength": 1,
            "maxLength": MAX_MANAGED_NAME_CHARACTERS,
            "pattern": MANAGED_NAME,
            "description": description,
        })
    };
    json!({
        "type": ["object", "null"],
        "properties": {
            "source": text("The source, such as the name of a set of files"),
            "name": text("The name, which no other alert of the account has in this source"),
        },
        "required": ["source", "name"],
        "additionalProperties": false,
        "description": "The source that manages the alert, and its name there; null if people manage it. Not for guests",
        "example": {"source": "trading-alerts", "name": "apple-oversold"},
    })
}

/// One line without spaces at its ends.
const MANAGED_NAME: &str = concat!(
    "^[^\\s\\u0000-\\u001f\\u007f-\\u009f]",
    "([^\\u0000-\\u001f\\u007f-\\u009f]*[^\\s\\u0000-\\u001f\\u007f-\\u009f])?$",
);

/// Returns the schema of a source.
pub(super) fn source() -> Value {
    json!({
        "type": ["string", "null"],
        "minLength": 1,
        "maxLength": MAX_MANAGED_NAME_CHARACTERS,
        "pattern": MANAGED_NAME,
        "description": "The source whose revision is returned in `source_revision`",
    })
}
