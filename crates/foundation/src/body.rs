//! Reader for request bodies that collects all errors.

use market::{Decimal, Price};
use serde_json::{Map, Value};

use crate::{ErrorsByField, ServiceError};

/// Reads the fields of a request body and collects errors. `null` counts as absent.
#[derive(Debug)]
pub struct BodyReader<'a> {
    members: &'a Map<String, Value>,
    errors: ErrorsByField,
}

impl<'a> BodyReader<'a> {
    /// Creates a reader.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`] if the body is not an object.
    pub fn new(body: &'a Value) -> Result<Self, ServiceError> {
        let members = body.as_object();
        let members = members.ok_or_else(|| ServiceError::Malformed("the body must be a JSON object".to_owned()))?;
        Ok(Self {
            members,
            errors: ErrorsByField::new(),
        })
    }

    /// Reports an error of a field.
    pub fn add_error(&mut self, name: &str, fault: impl Into<String>) {
        self.errors.entry(name.to_owned()).or_default().push(fault.into());
    }

    /// Returns whether a field is present, including `null`.
    pub fn contains(&self, name: &str) -> bool {
        self.members.contains_key(name)
    }

    /// Returns a field, unless it is absent or `null`.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&'a Value> {
        self.members.get(name).filter(|value| !value.is_null())
    }

    /// Reports a missing field, unless it already has an error.
    pub fn add_missing(&mut self, name: &str) {
        if !self.errors.contains_key(name) {
            self.add_error(name, "is required");
        }
    }

    /// Reads an optional text.
    pub fn text(&mut self, name: &str) -> Option<&'a str> {
        let text = self.value(name)?.as_str().filter(|text| !text.contains('\0'));
        if text.is_none() {
            self.add_error(name, "must be a text without the character U+0000");
        }
        text
    }

    /// Reads a required text.
    pub fn required(&mut self, name: &str) -> Option<&'a str> {
        let text = self.text(name);
        if text.is_none() {
            self.add_missing(name);
        }
        text
    }

    /// Reads an optional text of `least` to `most` characters, without surrounding white space.
    pub fn trimmed(&mut self, name: &str, least: usize, most: usize) -> Option<&'a str> {
        let text = self.text(name)?.trim();
        if (least..=most).contains(&text.chars().count()) {
            return Some(text);
        }
        self.add_error(name, format!("must have {least} to {most} characters"));
        None
    }

    /// Like [`trimmed`](Self::trimmed), but without line breaks and other control characters.
    pub fn line(&mut self, name: &str, least: usize, most: usize) -> Option<&'a str> {
        let text = self.text(name)?.trim();
        if (least..=most).contains(&text.chars().count()) && !text.chars().any(char::is_control) {
            return Some(text);
        }
        self.add_error(name, format!("must have {least} to {most} characters on one line"));
        None
    }

    /// Reads an optional price.
    pub fn price(&mut self, name: &str) -> Option<Price> {
        let number = self.value(name)?.as_f64();
        let number = number.and_then(|number| Decimal::from_f64(number).ok());
        let price = number.and_then(|number| Price::try_from(number).ok());
        if price.is_none() {
            self.add_error(name, "must be a price above 0 and at most 1000000000, or null");
        }
        price
    }

    /// Reads an optional boolean.
    pub fn boolean(&mut self, name: &str) -> Option<bool> {
        let flag = self.value(name)?.as_bool();
        if flag.is_none() {
            self.add_error(name, "must be true or false");
        }
        flag
    }

    /// Reads an optional name from a list of values.
    pub fn one_of<T: Copy>(
        &mut self,
        name: &str,
        all: &[T],
        from_name: impl FnOnce(&str) -> Option<T>,
        to_name: impl Fn(T) -> &'static str,
    ) -> Option<T> {
        let found = self.value(name)?.as_str().and_then(from_name);
        if found.is_none() {
            let names: Vec<_> = all.iter().map(|one| to_name(*one)).collect();
            self.add_error(name, format!("must be one of {}", names.join(", ")));
        }
        found
    }

    /// Finishes reading.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] with all errors.
    pub fn finish(self) -> Result<(), ServiceError> {
        if self.errors.is_empty() {
            Ok(())
        } else {
            Err(ServiceError::fields(self.errors))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn all_errors_are_collected_and_null_counts_as_absent() {
        let body = json!({"title": 5, "flag": "yes", "word": "c", "long": "abcd", "null": null});
        let mut members = BodyReader::new(&body).unwrap();
        assert_eq!(members.required("title"), None);
        assert_eq!(members.required("null"), None);
        assert_eq!(members.boolean("flag"), None);
        assert_eq!(members.trimmed("long", 1, 3), None);
        let from_name = |name: &str| ["a", "b"].into_iter().find(|word| *word == name);
        assert_eq!(members.one_of("word", &["a", "b"], from_name, |word| word), None);
        assert!(members.contains("null") && !members.contains("none"));
        let Err(ServiceError::Invalid { fields, .. }) = members.finish() else {
            panic!("there were errors");
        };
        let names: Vec<_> = fields.keys().map(String::as_str).collect();
        assert_eq!(names, ["flag", "long", "null", "title", "word"]);
        assert_eq!(fields["word"], ["must be one of a, b"]);
        assert_eq!(fields["title"].len(), 1);
    }

    #[test]
    fn body_must_be_an_object() {
        assert!(matches!(BodyReader::new(&json!([])), Err(ServiceError::Malformed(_))));
    }
}
