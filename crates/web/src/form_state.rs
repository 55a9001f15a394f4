//! The contents of a refused form that are shown again: the values that were entered, and the errors at their fields.

use std::collections::BTreeMap;

/// The state of the forms of a page.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FormState {
    /// The values that were entered, by field. Secrets are not among them.
    pub values: BTreeMap<String, String>,
    /// The errors by field.
    pub errors: BTreeMap<String, String>,
    /// The error of no field.
    pub error: Option<String>,
}

impl FormState {
    /// Returns the value of a field: the entered one, or else the present one.
    #[must_use]
    pub fn value<'a>(&'a self, name: &str, present: &'a str) -> &'a str {
        self.values.get(name).map_or(present, String::as_str)
    }

    /// Returns the error of a field.
    #[must_use]
    pub fn error_of(&self, name: &str) -> Option<&str> {
        self.errors.get(name).map(String::as_str)
    }
}
