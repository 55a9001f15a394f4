//! # The OpenAPI document
//!
//! It is made from the endpoints ([`crate::routes`]) and finished here. What is the same for all of them (errors,
//! headers, security) is written once ([`finish`]) and not at each of them. The bodies that the service reads by itself
//! are described here too ([`alert_body`], [`ingest_body`]), and tests hold them to what it accepts.

pub mod alert_body;
mod conditional;
mod examples;
mod finish;
pub mod ingest_body;
pub mod names;
mod served;
mod webhooks;
mod yaml;

use axum::response::Response;
use bytes::Bytes;
use http::HeaderMap;
use serde_json::Value;
use served::Served;

use crate::routes;

/// The version of the API's description.
pub const VERSION: &str = "1.2.1";

/// The finished document.
#[derive(Debug)]
pub struct Document {
    json: Served,
    yaml: Served,
}

impl Default for Document {
    fn default() -> Self {
        Self::new()
    }
}

impl Document {
    /// Makes it.
    #[must_use]
    pub fn new() -> Self {
        let value = Self::value();
        Self {
            json: Served::new(
                "application/json",
                alerts::json::to_vec(&value).unwrap_or_default().into(),
            ),
            yaml: Served::new("application/yaml", yaml::text(&value).into()),
        }
    }

    /// The document as a value.
    #[must_use]
    pub fn value() -> Value {
        let api = routes::documented().into_openapi();
        // Everything in it can be JSON: that is what it is made for.
        let mut value = serde_json::to_value(&api).unwrap_or_default();
        finish::finish(&mut value);
        value
    }

    /// As JSON.
    #[must_use]
    pub fn json(&self) -> Bytes {
        self.json.whole().clone()
    }

    /// As YAML.
    #[must_use]
    pub fn yaml(&self) -> Bytes {
        self.yaml.whole().clone()
    }

    /// Answers a GET of the JSON form with these headers.
    pub(crate) fn answer_json(&self, request: &HeaderMap) -> Response {
        self.json.answer(request)
    }

    /// Answers a GET of the YAML form with these headers.
    pub(crate) fn answer_yaml(&self, request: &HeaderMap) -> Response {
        self.yaml.answer(request)
    }
}
