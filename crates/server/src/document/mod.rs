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
mod served_document;
mod webhooks;
mod yaml;

use axum::response::Response;
use bytes::Bytes;
use http::HeaderMap;
use serde_json::Value;
use served_document::ServedDocument;

use crate::routes;

/// The version of the API description.
pub const VERSION: &str = "1.2.1";

/// The complete document in JSON and YAML.
#[derive(Debug)]
pub struct Document {
    json: ServedDocument,
    yaml: ServedDocument,
}

impl Default for Document {
    fn default() -> Self {
        Self::new()
    }
}

impl Document {
    /// Builds the document.
    #[must_use]
    pub fn new() -> Self {
        let value = Self::value();
        Self {
            json: ServedDocument::new(
                "application/json",
                alerts::json::to_vec(&value).unwrap_or_default().into(),
            ),
            yaml: ServedDocument::new("application/yaml", yaml::text(&value).into()),
        }
    }

    /// Returns the document as a JSON value.
    #[must_use]
    pub fn value() -> Value {
        let api = routes::documented().into_openapi();
        // The document always converts to JSON.
        let mut value = serde_json::to_value(&api).unwrap_or_default();
        finish::finish(&mut value);
        value
    }

    /// Returns the document as JSON.
    #[must_use]
    pub fn json(&self) -> Bytes {
        self.json.whole().clone()
    }

    /// Returns the document as YAML.
    #[must_use]
    pub fn yaml(&self) -> Bytes {
        self.yaml.whole().clone()
    }

    /// Responds to a GET of the JSON form with these request headers.
    pub(crate) fn answer_json(&self, request: &HeaderMap) -> Response {
        self.json.answer(request)
    }

    /// Responds to a GET of the YAML form with these request headers.
    pub(crate) fn answer_yaml(&self, request: &HeaderMap) -> Response {
        self.yaml.answer(request)
    }
}
