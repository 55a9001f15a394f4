//! Errors collected by field.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};

use crate::expression::ExpressionError;

/// The errors of a body: one or more messages for each invalid field, ordered by field name.
///
/// A message continues from the field's name, names the problem and the fix, and says what is allowed. It never repeats text
/// that the client sent, so it is safe to display anywhere; only the error of an expression quotes the word that it does not know.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FieldErrors {
    messages: BTreeMap<String, Vec<String>>,
    expression: Option<Box<ExpressionError>>,
}

/// A marker: the field is invalid, its error is recorded in [`FieldErrors`], and no value is available.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InvalidField;

impl FieldErrors {
    /// Returns whether there are no errors.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Returns the messages for a field, such as `threshold` or `parameters.direction`.
    #[must_use]
    pub fn of(&self, field: &str) -> &[String] {
        self.messages.get(field).map_or(&[], Vec::as_slice)
    }

    /// Returns the invalid fields with their messages.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.messages
            .iter()
            .map(|(field, messages)| (field.as_str(), messages.as_slice()))
    }

    /// Returns the errors in the format of the API: `{"threshold": ["must be omitted for new_high"]}`.
    #[must_use]
    pub fn to_json(&self) -> Map<String, Value> {
        self.messages
            .iter()
            .map(|(field, messages)| (field.clone(), messages.clone().into()))
            .collect()
    }

    /// Adds an error of a field.
    pub(crate) fn add(&mut self, field: impl Into<String>, message: impl Into<String>) -> InvalidField {
        self.messages.entry(field.into()).or_default().push(message.into());
        InvalidField
    }

    /// Returns the error of the expression with its position; `None` if there is no invalid expression.
    #[must_use]
    pub fn expression_error(&self) -> Option<&ExpressionError> {
        self.expression.as_deref()
    }

    /// Adds an error of an expression.
    pub(crate) fn add_expression_error(&mut self, field: impl Into<String>, error: ExpressionError) -> InvalidField {
        let invalid = self.add(field, error.to_string());
        self.expression = Some(Box::new(error));
        invalid
    }

    /// Adds all errors of another reader.
    pub(crate) fn append(&mut self, other: Self) -> InvalidField {
        for (field, mut messages) in other.messages {
            self.messages.entry(field).or_default().append(&mut messages);
        }
        self.expression = self.expression.take().or(other.expression);
        InvalidField
    }
}

impl fmt::Display for FieldErrors {
    /// Writes one line: `threshold: must be omitted for new_high`. Several errors are separated by ` | `.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self
            .iter()
            .flat_map(|(field, messages)| messages.iter().map(move |message| (field, message)));
        for (place, (field, message)) in lines.enumerate() {
            let bar = if place == 0 { "" } else { " | " };
            write!(f, "{bar}{field}: {message}")?;
        }
        Ok(())
    }
}

/// Returns the member with this name. A null counts as an omitted member.
pub(crate) fn member<'a>(body: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    body.get(name).filter(|value| !value.is_null())
}

/// Returns the JSON type of a value, for messages.
pub(crate) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_displayed_on_one_line_sorted_by_field() {
        let mut errors = FieldErrors::default();
        errors.add("threshold", "must be omitted for new_high");
        assert_eq!(errors.to_string(), "threshold: must be omitted for new_high");
        errors.add("symbol", "is required");
        errors.add("symbol", "is odd");
        assert_eq!(
            errors.to_string(),
            "symbol: is required | symbol: is odd | threshold: must be omitted for new_high"
        );
    }

    #[test]
    fn errors_convert_to_response_details() {
        let mut errors = FieldErrors::default();
        errors.add("threshold", "must be omitted for new_high");
        assert_eq!(
            Value::Object(errors.to_json()),
            serde_json::json!({"threshold": ["must be omitted for new_high"]})
        );
    }
}
