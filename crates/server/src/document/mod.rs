//! # The OpenAPI document
//!
//! It is made from the endpoints ([`crate::routes`]) and finished here: what is the same for all of them (errors,
//! headers, security) is written once ([`finish`]) and not at each of them. The bodies of requests that the service
//! reads by itself are described here too ([`alert_body`], [`ingest_body`]); tests hold them to what it accepts.

pub mod alert_body;
pub mod ingest_body;
pub mod names;
mod yaml;

use bytes::Bytes;
use serde_json::Value;
use utoipa::openapi::OpenApi;

/// The finished document.
#[derive(Debug)]
pub struct Document {
    json: Bytes,
    yaml: Bytes,
}

impl Document {
    /// Finishes what the endpoints say of themselves.
    #[must_use]
    pub fn of(api: OpenApi) -> Self {
        let value = serde_json::to_value(&api).unwrap_or(Value::Null);
        Self {
            json: alerts::json::to_vec(&value).unwrap_or_default().into(),
            yaml: yaml::text(&value).into(),
        }
    }

    /// As JSON.
    #[must_use]
    pub fn json(&self) -> Bytes {
        self.json.clone()
    }

    /// As YAML.
    #[must_use]
    pub fn yaml(&self) -> Bytes {
        self.yaml.clone()
    }
}
