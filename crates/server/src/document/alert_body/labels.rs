//! The schemas of the note and the tags in requests.

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
