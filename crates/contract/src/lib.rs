//! Compares requests and responses with the OpenAPI document, for tests.
//!
//! A test client passes every request and response ([`Exchange`]) to [`Contract::check`]. A request body that the document
//! allows must not be refused for its shape, one that the document forbids must not be accepted, and every response must
//! have a documented status, content type and body. What a schema cannot express is listed in [`beyond_schema`].

pub mod beyond_schema;
mod document_cache;
mod error;
mod examples;
mod exchange;
mod operations;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use jsonschema::{Draft, Registry, Validator};
use serde_json::{Value, json};

pub use document_cache::DocumentCache;
pub use error::{DocumentError, Violation};
pub use examples::{DocumentedExample, ExampleOf};
pub use exchange::Exchange;
pub use operations::{Operation, Route};

/// The base URI of the document while it is read; nothing is fetched from it.
const DOCUMENT_URI: &str = "https://contract.invalid/openapi.json";

/// An OpenAPI document with compiled schemas.
pub struct Contract {
    document: Value,
    registry: Registry<'static>,
    operations: Vec<Operation>,
    /// Compiled schemas by JSON pointer. A test uses few of them, so each is compiled at its first use.
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

impl std::fmt::Debug for Contract {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Contract")
            .field("operations", &self.operations.len())
            .finish_non_exhaustive()
    }
}

impl Contract {
    /// Reads an OpenAPI 3.1 document.
    ///
    /// # Errors
    /// [`DocumentError`] if its references cannot be resolved.
    pub fn new(document: Value) -> Result<Self, DocumentError> {
        let registry = Registry::new()
            .draft(Draft::Draft202012)
            .add(DOCUMENT_URI, document.clone())
            .and_then(jsonschema::RegistryBuilder::prepare)
            .map_err(|error| DocumentError(error.to_string()))?;
        Ok(Self {
            operations: operations::of(&document),
            document,
            registry,
            validators: Mutex::default(),
        })
    }

    /// Returns the document.
    #[must_use]
    pub const fn document(&self) -> &Value {
        &self.document
    }

    /// Returns all operations of the document.
    #[must_use]
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// Returns why a value does not match the schema at a JSON pointer of the document; empty if it matches.
    ///
    /// # Errors
    /// [`DocumentError`] if there is no usable schema at that place.
    pub fn schema_errors(&self, pointer: &str, value: &Value) -> Result<Vec<String>, DocumentError> {
        let validator = self.validator(pointer)?;
        let errors = validator.iter_errors(value);
        Ok(errors
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect())
    }

    fn validator(&self, pointer: &str) -> Result<Arc<Validator>, DocumentError> {
        // A panic in another test thread leaves the map whole: every change is one insertion.
        let mut validators = self.validators.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(validator) = validators.get(pointer) {
            return Ok(Arc::clone(validator));
        }
        let schema = json!({"$ref": format!("{DOCUMENT_URI}#{}", operations::uri_fragment(pointer))});
        let validator = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .with_registry(&self.registry)
            .should_validate_formats(true)
            .build(&schema)
            .map_err(|error| DocumentError(format!("{pointer}: {error}")))?;
        let validator = Arc::new(validator);
        validators.insert(pointer.to_owned(), Arc::clone(&validator));
        Ok(validator)
    }
}
