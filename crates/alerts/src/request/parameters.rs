//! The `parameters` of a request: the parameters of the condition, and client metadata.
//!
//! A condition reads its own parameters and stores them under their canonical names with their canonical values: `delivery_time`
//! becomes `deliveryTime`, and an RSI's `up` becomes `above`. All other parameters are client metadata and stay unchanged.
//!
//! An omitted or null parameter has its default. Defaults are not stored, so an alert shows exactly what its owner requested.

use serde_json::{Map, Value};

use super::fields::{FieldErrors, InvalidField, kind_of};
use super::numbers;
use crate::condition::{ConditionKind, MAX_NOTE_CHARACTERS, ParameterRule, ParameterSpec, WHEN};
use crate::expression::{Expression, Within, WithinError};
use market::Symbol;

/// The maximum size of the parameters in bytes, as compact JSON.
pub const MAX_BYTES: usize = 16 * 1024;

/// The parameter that holds the note of a reminder.
pub(crate) const NOTE: &str = "note";

/// The maximum depth of values in the parameters. A direct member of `parameters` has depth 1.
pub const MAX_DEPTH: usize = 8;

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
    // An error of an expression has the position of the character.
    if let Some(Value::String(text)) = map.get(WHEN)
        && text.contains('\0')
        && let Err(error) = Expression::parse(text, None)
    {
        return Err(errors.add_expression_error(format!("parameters.{WHEN}"), error));
    }
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

    /// Returns the parameters read so far, in their normal form.
    pub(super) const fn map(&self) -> &Map<String, Value> {
        &self.map
    }

    /// Removes a parameter, both in camel case and in snake case.
    pub(super) fn remove(&mut self, name: &str) {
        let snake = snake_case(name);
        self.map.retain(|key, _| snake_case(key) != snake);
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

    /// Reads a parameter of a condition and stores it in its normal form; that of an expression names the alert's own `symbol`
    /// nowhere. `current` is the expression that is being updated, which may stay as it is. The dates of a reminder are left to
    /// `reminder.rs`.
    pub(super) fn read(
        &mut self,
        kind: ConditionKind,
        own: &ParameterSpec,
        (symbol, current): (Option<Symbol>, Option<&Expression>),
        errors: &mut FieldErrors,
    ) -> Result<(), InvalidField> {
        if matches!(
            own.rule,
            ParameterRule::Date | ParameterRule::DateTime | ParameterRule::Time
        ) {
            return Ok(());
        }
        let Some(SentParameter { field, value }) = self.take(own.name, errors)? else {
            if !own.is_required {
                return Ok(());
            }
            let message = format!("is required for {kind}; it must be {}", own.rule);
            return Err(errors.add(format!("parameters.{}", own.name), message));
        };
        if let (ParameterRule::Expression, Value::String(text)) = (&own.rule, &value) {
            let parsed = Expression::parse(text, symbol).and_then(|parsed| match symbol {
                Some(_) if current != Some(&parsed.expression) => parsed.for_new_alert(),
                // A stored expression keeps its metrics.
                _ => Ok(parsed.expression),
            });
            let expression = parsed.map_err(|error| errors.add_expression_error(field, error))?;
            self.write(own.name, expression.to_string());
            return Ok(());
        }
        match normal(&own.rule, value) {
            Ok(Value::Null) => {}
            Ok(value) => self.write(own.name, value),
            Err(message) => return Err(errors.add(field, message)),
        }
        Ok(())
    }
}

/// Returns the normal form of a value, or an error message. A blank note counts as omitted.
fn normal(rule: &ParameterRule, value: Value) -> Result<Value, String> {
    let found = kind_of(&value);
    match rule {
        ParameterRule::Word(words, aliases) => {
            let text = value.as_str().unwrap_or_default();
            let alias = aliases.iter().find(|(alias, _)| *alias == text);
            let word = alias.map_or(text, |(_, word)| word);
            let is_known = words.contains(&word);
            is_known.then(|| word.into()).ok_or_else(|| format!("must be {rule}"))
        }
        ParameterRule::Number(range) => {
            let number = numbers::decimal(&value, range)?;
            let is_allowed = range.contains(number);
            is_allowed
                .then_some(value)
                .ok_or_else(|| format!("must be {range}, but is {number}"))
        }
        ParameterRule::Flag if value.is_boolean() => Ok(value),
        ParameterRule::Within if value.is_string() => {
            let within: Within = value
                .as_str()
                .unwrap_or_default()
                .parse()
                .map_err(|error: WithinError| error.to_string())?;
            Ok(within.to_string().into())
        }
        ParameterRule::Note if value.is_string() => {
            let text = value.as_str().unwrap_or_default();
            let (length, is_blank) = (text.chars().count(), text.trim().is_empty());
            if length > MAX_NOTE_CHARACTERS {
                return Err(format!(
                    "must have at most {MAX_NOTE_CHARACTERS} characters, but has {length}; shorten it"
                ));
            }
            Ok(if is_blank { Value::Null } else { value })
        }
        _ => Err(format!("must be {rule}, not {found}")),
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
