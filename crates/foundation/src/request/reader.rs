//! Reader for request bodies that collects all errors.

use serde_json::{Map, Value};

use super::Field;
use crate::{ErrorsByField, ServiceError};

/// Reads the fields of a request body and collects errors.
#[derive(Debug)]
pub struct BodyReader<'a> {
    members: &'a Map<String, Value>,
    errors: ErrorsByField,
}

impl<'a> BodyReader<'a> {
    pub(super) fn new(body: &'a Value) -> Result<Self, ServiceError> {
        let members = body.as_object();
        let members = members.ok_or_else(|| ServiceError::Malformed("the body must be a JSON object".to_owned()))?;
        Ok(Self {
            members,
            errors: ErrorsByField::new(),
        })
    }

    /// Adds an error of a field.
    pub fn add_error(&mut self, name: &str, error: impl Into<String>) {
        self.errors.entry(name.to_owned()).or_default().push(error.into());
    }

    /// Adds an error if a field is absent.
    pub fn require(&mut self, name: &str) {
        if self.value(name).is_none() {
            self.add_error(name, "is required");
        }
    }

    /// Returns a field's value. Null counts as absent.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&'a Value> {
        self.members.get(name).filter(|value| !value.is_null())
    }

    /// Reads a field.
    pub fn field<T: Field>(&mut self, name: &str) -> Option<T> {
        let read = match self.members.get(name) {
            None => T::absent(),
            Some(Value::Null) => T::null(),
            Some(value) => T::read(value),
        };
        read.map_err(|error| self.add_error(name, error)).ok()
    }

    pub(super) fn finish(self) -> Result<(), ServiceError> {
        if self.errors.is_empty() {
            Ok(())
        } else {
            Err(ServiceError::fields(self.errors))
        }
    }
}
