//! The `parameters` of a request: the parameters of the condition, and client metadata.
//!
//! A condition reads its own parameters and stores them under their canonical names with their canonical values: `delivery_time`
//! becomes `deliveryTime`, and an RSI's `up` becomes `above`. All other parameters are client metadata and stay unchanged.
//!
//! An omitted or null parameter has its default. Defaults are not stored, so an alert shows exactly what its owner requested.

use serde_json::{Map, Value};

use super::fields::{FieldErrors, InvalidField, kind_of};
use super::numbers::{self, NumberRule};

/// The maximum size of the parameters in bytes, as compact JSON.
pub const MAX_BYTES: usize = 16 * 1024;

/// The parameter that holds the note of a reminder.
pub(crate) const NOTE: &str = "note";

/// The maximum depth of values in the parameters. A direct member of `parameters` has depth 1.
pub const MAX_DEPTH: usize = 8;

/// The maximum length of a reminder's note, in characters.
pub const MAX_NOTE_CHARACTERS: usize = 2_000;

/// Reads the member `parameters` and checks its size and depth.
pub(super) fn object(value: &Value, errors: &mut FieldErrors) -> Result<Option<Map<String, Value>>, InvalidField> {
    let map = match value {
        Value::Null => return Ok(None),
        Value::Object(map) => map,
        other => {
            let kind = kind_of(other);
            let message = format!("must be an object or null, not {kind}");
            return Err(errors.add("parameters", message));
        }
    };
    // The depth is checked first: serialising a deeper value below could exhaust the stack.
    if map.values().any(|value| !is_sound(value, 1)) || map.keys().any(|key| key.contains('\0')) {
        let message = format!(
            "must not be nested deeper than {MAX_DEPTH} levels nor have the character U+0000; \
             send plain values"
        );
        return Err(errors.add("parameters", message));
    }
    let bytes = value.to_string().len();
    if bytes > MAX_BYTES {
        let message = format!("must have at most {MAX_BYTES} bytes as JSON, but have {bytes}; send less");
        return Err(errors.add("parameters", message));
    }
    Ok(Some(map.clone()))
}

/// Returns whether a value at `depth` is not too deep and contains no text that PostgreSQL's JSON rejects.
fn is_sound(value: &Value, depth: usize) -> bool {
    depth <= MAX_DEPTH
        && match value {
            Value::String(text) => !text.contains('\0'),
            Value::Array(values) => values.iter().all(|value| is_sound(value, depth + 1)),
            Value::Object(map) => map
                .iter()
                .all(|(key, value)| !key.contains('\0') && is_sound(value, depth + 1)),
            Value::Null | Value::Bool(_) | Value::Number(_) => true,
        }
}

/// Parameters that are being brought into their normal form.
pub(super) struct Parameters {
    map: Map<String, Value>,
    /// Whether the request has parameters, possibly empty.
    given: bool,
}

/// A parameter of a request: the field in which it was sent, for messages, and its value.
pub(super) struct SentParameter {
    pub(super) field: String,
    pub(super) value: Value,
}

impl Parameters {
    pub(super) fn new(map: Option<Map<String, Value>>) -> Self {
        Self {
            given: map.is_some(),
            map: map.unwrap_or_default(),
        }
    }

    /// Returns the parameters in their normal form.
    pub(super) fn into_normal(self) -> Option<Map<String, Value>> {
        (self.given || !self.map.is_empty()).then_some(self.map)
    }

    /// Sets a parameter under its canonical name.
    pub(super) fn write(&mut self, name: &str, value: impl Into<Value>) {
        self.map.insert(name.to_owned(), value.into());
    }

    /// Removes a parameter, both under its canonical name and in snake case.
    pub(super) fn remove(&mut self, name: &str) {
        self.map.remove(name);
        self.map.remove(&snake_case(name));
    }

    /// Takes a parameter, either under its canonical name or in snake case.
    pub(super) fn take(
        &mut self,
        name: &'static str,
        errors: &mut FieldErrors,
    ) -> Result<Option<SentParameter>, InvalidField> {
        let snake = snake_case(name);
        let written = self.take_member(name);
        if snake == name {
            return Ok(written);
        }
        match (written, self.take_member(&snake)) {
            (Some(written), Some(other)) if written.value != other.value => {
                let message = format!("contradicts {}; send only {0}", written.field);
                Err(errors.add(other.field, message))
            }
            (written, other) => Ok(written.or(other)),
        }
    }

    fn take_member(&mut self, name: &str) -> Option<SentParameter> {
        let value = self.map.remove(name).filter(|value| !value.is_null())?;
        Some(SentParameter {
            field: format!("parameters.{name}"),
            value,
        })
    }

    /// Reads the note of a reminder and keeps it unchanged. A blank note counts as omitted.
    pub(super) fn note(&mut self, errors: &mut FieldErrors) -> Result<(), InvalidField> {
        let Some(SentParameter { field, value }) = self.take(NOTE, errors)? else {
            return Ok(());
        };
        let Some(text) = value.as_str() else {
            let kind = kind_of(&value);
            let message = format!("must be a text of at most {MAX_NOTE_CHARACTERS} characters, not {kind}");
            return Err(errors.add(field, message));
        };
        let length = text.chars().count();
        if length > MAX_NOTE_CHARACTERS {
            let message = format!("must have at most {MAX_NOTE_CHARACTERS} characters, but has {length}; shorten it");
            return Err(errors.add(field, message));
        }
        if !text.trim().is_empty() {
            self.write(NOTE, text);
        }
        Ok(())
    }

    /// Reads a parameter whose value is one of several words. Of synonyms, the first one is canonical.
    pub(super) fn word<T: Copy + PartialEq>(
        &mut self,
        name: &'static str,
        words: &[(&'static str, T)],
        errors: &mut FieldErrors,
    ) -> Result<Option<T>, InvalidField> {
        let Some(own) = self.take(name, errors)? else {
            return Ok(None);
        };
        let said = words.iter().find(|(word, _)| own.value.as_str() == Some(word));
        let Some(&(_, meaning)) = said else {
            return Err(errors.add(own.field, format!("must be {}", listed(words))));
        };
        if let Some((written, _)) = words.iter().find(|(_, other)| *other == meaning) {
            self.write(name, *written);
        }
        Ok(Some(meaning))
    }

    /// Reads a numeric parameter.
    pub(super) fn number<T>(
        &mut self,
        name: &'static str,
        rule: &NumberRule<T>,
        errors: &mut FieldErrors,
    ) -> Result<Option<T>, InvalidField> {
        let Some(SentParameter { field, value }) = self.take(name, errors)? else {
            return Ok(None);
        };
        let number = match numbers::decimal(&value, rule) {
            Ok(number) => number,
            Err(message) => return Err(errors.add(field, message)),
        };
        let Some(taken) = (rule.take)(number) else {
            let message = format!("must be {}, but is {number}", rule.text);
            return Err(errors.add(field, message));
        };
        self.write(name, value);
        Ok(Some(taken))
    }

    /// Reads a boolean parameter.
    pub(super) fn flag(&mut self, name: &'static str, errors: &mut FieldErrors) -> Result<Option<bool>, InvalidField> {
        let Some(SentParameter { field, value }) = self.take(name, errors)? else {
            return Ok(None);
        };
        let Some(flag) = value.as_bool() else {
            let kind = kind_of(&value);
            return Err(errors.add(field, format!("must be true or false, not {kind}")));
        };
        self.write(name, flag);
        Ok(Some(flag))
    }
}

/// Returns the canonical words as a list: `above, below or both`.
pub(super) fn listed<T: PartialEq>(words: &[(&'static str, T)]) -> String {
    let mut written: Vec<&str> = Vec::new();
    for (place, (word, meaning)) in words.iter().enumerate() {
        if !words[..place].iter().any(|(_, earlier)| earlier == meaning) {
            written.push(word);
        }
    }
    match written.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => written.concat(),
    }
}

/// Converts `deliveryTime` to `delivery_time`.
fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for character in name.chars() {
        if character.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(character.to_ascii_lowercase());
    }
    snake
}
