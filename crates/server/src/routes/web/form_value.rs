//! Values of a form as JSON, for the use cases that read the bodies of the API.

use serde_json::{Value, json};

use crate::routes::pages::link::form_field;
use crate::routes::prelude::*;

/// Returns a number; null for an empty field. A text that is no number stays a text, which the use case refuses with the field's name.
pub(super) fn optional_number(form: &FormFields, name: &str) -> Value {
    match form_field(form, name).trim() {
        "" => Value::Null,
        text => match text.parse::<f64>() {
            Ok(number) if number.is_finite() => json!(number),
            Ok(_) | Err(_) => json!(text),
        },
    }
}

/// Returns a text; null for an empty field.
pub(super) fn optional_text(form: &FormFields, name: &str) -> Value {
    match form_field(form, name).trim() {
        "" => Value::Null,
        text => json!(text),
    }
}

/// Returns whether a checkbox is checked. One that is not checked is not sent.
pub(super) fn is_checked(form: &FormFields, name: &str) -> bool {
    !form_field(form, name).is_empty()
}
