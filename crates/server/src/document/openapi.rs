//! The OpenAPI document as it is served.

use std::sync::OnceLock;

use axum::response::Response;
use bytes::Bytes;
use http::HeaderMap;
use serde_json::Value;

use super::served_document::ServedDocument;

/// The document in JSON and YAML, which is generated on first use.
#[derive(Debug)]
pub struct OpenApiDocument {
    generate: fn() -> Value,
    json: OnceLock<ServedDocument>,
    yaml: OnceLock<ServedDocument>,
}

impl OpenApiDocument {
    /// Creates a document whose content `generate` returns.
    #[must_use]
    pub fn new(generate: fn() -> Value) -> Self {
        Self {
            generate,
            json: OnceLock::new(),
            yaml: OnceLock::new(),
        }
    }

    /// Returns the document as JSON.
    #[must_use]
    pub fn json(&self) -> Bytes {
        self.json_form().whole().clone()
    }

    /// Returns the document as YAML.
    #[must_use]
    pub fn yaml(&self) -> Bytes {
        self.yaml_form().whole().clone()
    }

    /// Responds to a GET of the JSON form with these request headers.
    pub(crate) fn respond_json(&self, request: &HeaderMap) -> Response {
        self.json_form().answer(request)
    }

    /// Responds to a GET of the YAML form with these request headers.
    pub(crate) fn respond_yaml(&self, request: &HeaderMap) -> Response {
        self.yaml_form().answer(request)
    }

    fn json_form(&self) -> &ServedDocument {
        self.json.get_or_init(|| {
            let json = alerts::json::to_vec(&(self.generate)()).unwrap_or_default();
            ServedDocument::new("application/json", json.into())
        })
    }

    fn yaml_form(&self) -> &ServedDocument {
        self.yaml.get_or_init(|| {
            let yaml = yaml_serde::to_string(&(self.generate)()).unwrap_or_default();
            ServedDocument::new("application/yaml", yaml.into())
        })
    }
}
