//! # The OpenAPI document
//!
//! The document is generated from the endpoints ([`crate::routes`]) and completed here. The parts that all endpoints share
//! (errors, headers, security) are added once ([`finish`]). The schemas of bodies that the service parses itself are
//! written here ([`alert_body`], [`ingest_body`]); tests check them against the parser.

pub mod alert_body;
mod conditional;
mod examples;
mod finish;
pub mod ingest_body;
pub mod names;
pub(crate) mod openapi;
pub(crate) mod served_document;
mod webhooks;

use serde_json::Value;

pub use openapi::OpenApiDocument;

use crate::routes;

/// The version of the API description.
pub const VERSION: &str = "1.2.1";

/// Generates the document.
#[must_use]
pub fn generate() -> Value {
    let api = routes::documented().into_openapi();
    // The document always converts to JSON.
    let mut value = serde_json::to_value(&api).unwrap_or_default();
    finish::finish(&mut value);
    value
}

/// Generates the schemas of the document's components, by name.
#[must_use]
pub fn component_schemas() -> Value {
    generate()["components"]["schemas"].take()
}
