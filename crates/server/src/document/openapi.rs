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
    forms: OnceLock<Forms>,
}

#[derive(Debug)]
struct Forms {
    json: ServedDocument,
    yaml: ServedDocument,
}

impl OpenApiDocument {
    /// Creates a document whose content `generate` returns.
    #[must_use]
    pub fn new(generate: fn() -> Value) -> Self {
        Self {
            generate,
            forms: OnceLock::new(),
        }
    }

    /// Returns the document as JSON.
    #[must_use]
    pub fn json(&self) -> Bytes {
        self.forms().json.whole().clone()
    }

    /// Returns the document as YAML.
    #[must_use]
    pub fn yaml(&self) -> Bytes {
        self.forms().yaml.whole().clone()
    }

    /// Responds to a GET of the JSON form with these request headers.
    pub(crate) fn respond_json(&self, request: &HeaderMap) -> Response {
        self.forms().json.answer(request)
    }

    /// Responds to a GET of the YAML form with these request headers.
    pub(crate) fn respond_yaml(&self, request: &HeaderMap) -> Response {
        self.forms().yaml.answer(request)
    }

    fn forms(&self) -> &Forms {
        self.forms.get_or_init(|| {
            let document = (self.generate)();
            let json = alerts::json::to_vec(&document).unwrap_or_default();
            let yaml = yaml_serde::to_string(&document).unwrap_or_default();
            Forms {
                json: ServedDocument::new("application/json", json.into()),
                yaml: ServedDocument::new("application/yaml", yaml.into()),
            }
        })
    }
}
