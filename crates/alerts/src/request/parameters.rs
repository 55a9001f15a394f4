//! The `parameters` of a request: what is taken as it is, and what a condition reads of them.
//!
//! A condition reads its own parameters, and they end up under their written names with their
//! written values: `delivery_time` becomes `deliveryTime`, an RSI's `up` becomes `above`. All
//! others are marks that clients set for themselves; they are kept as they came.
//!
//! A parameter that is left out or null has its default. Defaults are not written in, so an alert
//! shows what its owner asked for and nothing else.

use serde_json::{Map, Value};

use super::fields::{Faults, Noted, kind_of};
use super::numbers::{self, Allowed};

/// How large parameters may be, as compact JSON.
pub const MAX_BYTES: usize = 16 * 1024;

/// The parameter that holds the note of a reminder.
pub(crate) const NOTE: &str = "note";

/// How deep values may lie in parameters; a value right in `parameters` is at depth 1.
pub const MAX_DEPTH: usize = 8;

/// How long the note of a reminder may be, in characters.
pub const MAX_NOTE_CHARACTERS: usize = 2_000;

/// Reads the member `parameters`, which is not absent, as an object of bearable size.
pub(super) fn object(value: &Value, faults: &mut Faults) -> Result<Option<Map<String, Value>>, Noted> {
    let map = match value {
        Value::Null => return Ok(None),
        Value::Object(map) => map,
        other => {
            let kind = kind_of(other);
            let message = format!("must be an object or null, not {kind}");
            return Err(faults.note("parameters", message));
        }
    };
    // The depth comes first, so that writing the text below cannot exhaust the stack.
    if map.values().any(|value| !is_sound(value, 1)) || map.keys().any(|key| key.contains('\0')) {
        let message = format!(
            "must not be nested deeper than {MAX_DEPTH} levels nor have the character U+0000; \
             send plain values"
        );
        return Err(faults.note("parameters", message));
    }
    let bytes = value.to_string().len();
    if bytes > MAX_BYTES {
        let message = format!("must have at most {MAX_BYTES} bytes as JSON, but have {bytes}; send less");
        return Err(faults.note("parameters", message));
    }
    Ok(Some(map.clone()))
}

/// Whether a value at `depth` is not too deep and free of what PostgreSQL's JSON cannot hold.
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

/// Parameters on the way to their normal form.
pub(super) struct Parameters {
    map: Map<String, Value>,
    /// Whether there were any, be they empty.
    given: bool,
}

/// A parameter that is there: the field it was sent in, for messages, and what it is.
pub(super) struct Own {
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

    /// The parameters in their normal form.
    pub(super) fn into_normal(self) -> Option<Map<String, Value>> {
        (self.given || !self.map.is_empty()).then_some(self.map)
    }

    /// Sets a parameter under its written name.
    pub(super) fn write(&mut self, name: &str, value: impl Into<Value>) {
        self.map.insert(name.to_owned(), value.into());
    }

    /// Drops a parameter, by its written name and by the same name in snake case.
    pub(super) fn remove(&mut self, name: &str) {
        self.map.remove(name);
        self.map.remove(&snake_case(name));
    }

    /// Takes a parameter out, by its written name or by the same name in snake case.
    pub(super) fn take(&mut self, name: &'static str, faults: &mut Faults) -> Result<Option<Own>, Noted> {
        let snake = snake_case(name);
        let written = self.take_member(name);
        if snake == name {
            return Ok(written);
        }
        match (written, self.take_member(&snake)) {
            (Some(written), Some(other)) if written.value != other.value => {
                let message = format!("contradicts {}; send only {0}", written.field);
                Err(faults.note(other.field, message))
            }
            (written, other) => Ok(written.or(other)),
        }
    }

    fn take_member(&mut self, name: &str) -> Option<Own> {
        let value = self.map.remove(name).filter(|value| !value.is_null())?;
        Some(Own {
            field: format!("parameters.{name}"),
            value,
        })
    }

    /// Reads the note of a reminder, which is kept unchanged. A blank note counts as none.
    pub(super) fn note(&mut self, faults: &mut Faults) -> Result<(), Noted> {
        let Some(Own { field, value }) = self.take(NOTE, faults)? else {
            return Ok(());
        };
        let Some(text) = value.as_str() else {
            let kind = kind_of(&value);
            let message = format!("must be a text of at most {MAX_NOTE_CHARACTERS} characters, not {kind}");
            return Err(faults.note(field, message));
        };
        let length = text.chars().count();
        if length > MAX_NOTE_CHARACTERS {
            let message = format!("must have at most {MAX_NOTE_CHARACTERS} characters, but has {length}; shorten it");
            return Err(faults.note(field, message));
        }
        if !text.trim().is_empty() {
            self.write(NOTE, text);
        }
        Ok(())
    }

    /// Reads a parameter that is one of some words. Of words that mean the same the first is the
    /// written one.
    pub(super) fn word<T: Copy + PartialEq>(
        &mut self,
        name: &'static str,
        words: &[(&'static str, T)],
        faults: &mut Faults,
    ) -> Result<Option<T>, Noted> {
        let Some(own) = self.take(name, faults)? else {
            return Ok(None);
        };
        let said = words.iter().find(|(word, _)| own.value.as_str() == Some(word));
        let Some(&(_, meaning)) = said else {
            return Err(faults.note(own.field, format!("must be {}", listed(words))));
        };
        if let Some((written, _)) = words.iter().find(|(_, other)| *other == meaning) {
            self.write(name, *written);
        }
        Ok(Some(meaning))
    }

    /// Reads a parameter that is a number.
    pub(super) fn number<T>(
        &mut self,
        name: &'static str,
        allowed: &Allowed<T>,
        faults: &mut Faults,
    ) -> Result<Option<T>, Noted> {
        let Some(Own { field, value }) = self.take(name, faults)? else {
            return Ok(None);
        };
        let number = match numbers::decimal(&value, allowed) {
            Ok(number) => number,
            Err(message) => return Err(faults.note(field, message)),
        };
        let Some(taken) = (allowed.take)(number) else {
            let message = format!("must be {}, but is {number}", allowed.text);
            return Err(faults.note(field, message));
        };
        self.write(name, value);
        Ok(Some(taken))
    }

    /// Reads a parameter that is true or false.
    pub(super) fn flag(&mut self, name: &'static str, faults: &mut Faults) -> Result<Option<bool>, Noted> {
        let Some(Own { field, value }) = self.take(name, faults)? else {
            return Ok(None);
        };
        let Some(flag) = value.as_bool() else {
            let kind = kind_of(&value);
            return Err(faults.note(field, format!("must be true or false, not {kind}")));
        };
        self.write(name, flag);
        Ok(Some(flag))
    }
}

/// `above, below or both`: the written words.
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

/// `deliveryTime` as `delivery_time`.
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
