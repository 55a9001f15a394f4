//! Faults, collected field by field.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};

/// What is wrong with a body: for each field at fault, in the order of their names, one message or
/// more.
///
/// A message reads on from the field's name, names the fault and the mend, and says what is
/// allowed. It never repeats a text that the client sent, so it may be shown anywhere.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Faults(BTreeMap<String, Vec<String>>);

/// A fault has been noted in [`Faults`]; there is no value to go on with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Noted;

impl Faults {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The messages for a field, such as `threshold` or `parameters.direction`.
    #[must_use]
    pub fn of(&self, field: &str) -> &[String] {
        self.0.get(field).map_or(&[], Vec::as_slice)
    }

    /// The fields at fault with their messages.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.0
            .iter()
            .map(|(field, messages)| (field.as_str(), messages.as_slice()))
    }

    /// The faults as the API shows them: `{"threshold": ["must be omitted for new_high"]}`.
    #[must_use]
    pub fn to_json(&self) -> Map<String, Value> {
        self.0
            .iter()
            .map(|(field, messages)| (field.clone(), messages.clone().into()))
            .collect()
    }

    /// Notes a fault of a field.
    pub(super) fn note(&mut self, field: impl Into<String>, message: impl Into<String>) -> Noted {
        self.0.entry(field.into()).or_default().push(message.into());
        Noted
    }

    /// Takes over what `others` holds about one field.
    pub(super) fn adopt(&mut self, field: &str, mut others: Self) {
        if let Some(messages) = others.0.remove(field) {
            self.0.entry(field.to_owned()).or_default().extend(messages);
        }
    }
}

impl fmt::Display for Faults {
    /// One line: `threshold: must be omitted for new_high`; several faults with bars between them.
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

/// The member of that name, unless it is null: a null says as much as leaving the member out.
pub(super) fn member<'a>(body: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    body.get(name).filter(|value| !value.is_null())
}

/// What kind of JSON value it is, for messages.
pub(super) fn kind_of(value: &Value) -> &'static str {
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
    fn faults_print_on_one_line_in_the_order_of_their_fields() {
        let mut faults = Faults::default();
        faults.note("threshold", "must be omitted for new_high");
        assert_eq!(faults.to_string(), "threshold: must be omitted for new_high");
        faults.note("symbol", "is required");
        faults.note("symbol", "is odd");
        assert_eq!(
            faults.to_string(),
            "symbol: is required | symbol: is odd | threshold: must be omitted for new_high"
        );
    }

    #[test]
    fn faults_turn_into_the_details_of_an_answer() {
        let mut faults = Faults::default();
        faults.note("threshold", "must be omitted for new_high");
        assert_eq!(
            Value::Object(faults.to_json()),
            serde_json::json!({"threshold": ["must be omitted for new_high"]})
        );
    }
}
