//! An HTTP client that checks every response for the common rules and compares it with the served OpenAPI document: the
//! document must describe each response, and the service must reject a body that the document forbids.

mod response;

use std::sync::OnceLock;

use contract::{Contract, DocumentCache, Exchange};
use reqwest::header::{HeaderName, HeaderValue};
use reqwest::{Method, RequestBuilder};
use serde_json::Value;

use crate::program::binary;

pub use response::CheckedResponse;

/// A client of the API: sends requests under one path prefix, with or without an API key.
#[derive(Clone, Debug)]
pub struct ApiClient {
    http: reqwest::Client,
    /// `http://127.0.0.1:PORT`
    origin: String,
    prefix: &'static str,
    key: Option<String>,
}

impl ApiClient {
    /// Creates a client without an API key.
    #[must_use]
    pub fn new(origin: &str) -> Self {
        Self {
            http: reqwest::Client::builder()
                .no_proxy()
                .redirect(reqwest::redirect::Policy::none())
                .build()
                .unwrap(),
            origin: origin.to_owned(),
            prefix: "/api/v1",
            key: None,
        }
    }

    /// Returns a copy with an API key.
    #[must_use]
    pub fn with_key(&self, key: &str) -> Self {
        Self {
            key: Some(key.to_owned()),
            ..self.clone()
        }
    }

    /// Returns a copy without an API key.
    #[must_use]
    pub fn without_key(&self) -> Self {
        Self {
            key: None,
            ..self.clone()
        }
    }

    /// Returns a copy that uses another path prefix.
    #[must_use]
    pub fn with_prefix(&self, prefix: &'static str) -> Self {
        Self { prefix, ..self.clone() }
    }

    /// Returns a copy that sends requests to another origin.
    #[must_use]
    pub fn with_origin(&self, origin: &str) -> Self {
        Self {
            origin: origin.to_owned(),
            ..self.clone()
        }
    }

    /// Returns the API key.
    ///
    /// # Panics
    /// If the client has no key.
    #[must_use]
    pub fn key(&self) -> &str {
        self.key.as_deref().unwrap()
    }

    /// Returns the base URL of requests, including the prefix.
    #[must_use]
    pub fn base(&self) -> String {
        format!("{}{}", self.origin, self.prefix)
    }

    /// Prepares a request; `path` follows the prefix.
    #[must_use]
    pub fn request(&self, method: Method, path: &str) -> CheckedRequest {
        self.request_to(method, &format!("{}{path}", self.prefix))
    }

    /// Prepares a request to a path outside the prefix.
    #[must_use]
    pub fn request_to(&self, method: Method, path: &str) -> CheckedRequest {
        let mut builder = self.http.request(method.clone(), format!("{}{path}", self.origin));
        if let Some(key) = &self.key {
            builder = builder.header("X-API-Key", key);
        }
        CheckedRequest {
            builder,
            description: format!("{method} {path}"),
            http: self.http.clone(),
            origin: self.origin.clone(),
            method,
            path: path.to_owned(),
            body: SentBody::None,
        }
    }

    /// Returns the OpenAPI document that the service serves.
    ///
    /// # Panics
    /// If the service serves no document.
    pub async fn contract(&self) -> &'static Contract {
        let contract = contract(&self.http, &self.origin).await;
        contract.unwrap().expect("the service serves its document")
    }

    /// Sends `GET`.
    pub async fn get(&self, path: &str) -> CheckedResponse {
        self.request(Method::GET, path).send().await
    }

    /// Sends `POST` with a JSON body.
    pub async fn post(&self, path: &str, body: &Value) -> CheckedResponse {
        self.request(Method::POST, path).json(body).send().await
    }

    /// Sends `POST` without a body.
    pub async fn post_empty(&self, path: &str) -> CheckedResponse {
        self.request(Method::POST, path).send().await
    }

    /// Sends `PUT` with a JSON body.
    pub async fn put(&self, path: &str, body: &Value) -> CheckedResponse {
        self.request(Method::PUT, path).json(body).send().await
    }

    /// Sends `DELETE`.
    pub async fn delete(&self, path: &str) -> CheckedResponse {
        self.request(Method::DELETE, path).send().await
    }
}

/// A prepared request that has not been sent yet.
#[derive(Debug)]
pub struct CheckedRequest {
    builder: RequestBuilder,
    description: String,
    http: reqwest::Client,
    origin: String,
    method: Method,
    path: String,
    body: SentBody,
}

/// The request body, for the comparison with the OpenAPI document.
#[derive(Debug)]
enum SentBody {
    None,
    /// JSON written by a serializer.
    Json(String),
    /// Arbitrary bytes from a test.
    Raw,
}

impl CheckedRequest {
    /// Adds a header.
    #[must_use]
    pub fn header(self, name: &str, value: &str) -> Self {
        let name: HeaderName = name.parse().unwrap();
        let value = HeaderValue::from_bytes(value.as_bytes()).unwrap();
        Self {
            builder: self.builder.header(name, value),
            ..self
        }
    }

    /// Sets a JSON body.
    #[must_use]
    pub fn json(self, body: &Value) -> Self {
        Self {
            description: format!("{} {body}", self.description),
            builder: self.builder.json(body),
            body: SentBody::Json(body.to_string()),
            ..self
        }
    }

    /// Sets an arbitrary body with `Content-Type: application/json`.
    #[must_use]
    pub fn raw_json(self, body: impl Into<reqwest::Body>) -> Self {
        Self {
            builder: self.builder.header("content-type", "application/json").body(body),
            body: SentBody::Raw,
            ..self
        }
    }

    /// Sets a body without a `Content-Type` header.
    #[must_use]
    pub fn body_without_content_type(self, body: impl Into<reqwest::Body>) -> Self {
        Self {
            builder: self.builder.body(body),
            body: SentBody::Raw,
            ..self
        }
    }

    /// Sends the request and reads the response.
    ///
    /// # Panics
    /// If no response arrives.
    pub async fn send(self) -> CheckedResponse {
        let description = self.description.clone();
        self.try_send()
            .await
            .unwrap_or_else(|error| panic!("{description}: {error:?}"))
    }

    /// Sends the request and reads the response; the service may have been killed.
    ///
    /// # Errors
    /// If no complete response arrives.
    pub async fn try_send(self) -> Result<CheckedResponse, reqwest::Error> {
        let response = self.builder.send().await?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let text = response.text().await?;
        if let Some(contract) = contract(&self.http, &self.origin).await? {
            let json = match &self.body {
                SentBody::Json(json) => Some(json.as_bytes()),
                SentBody::None | SentBody::Raw => None,
            };
            let checked = contract.check(&Exchange {
                method: self.method.as_str(),
                path: &self.path,
                request_type: json.map(|_| "application/json"),
                request_body: json.unwrap_or_default(),
                is_raw: matches!(self.body, SentBody::Raw),
                status,
                response_type: headers.get("content-type").and_then(|kind| kind.to_str().ok()),
                response_body: text.as_bytes(),
            });
            if let Err(violation) = checked {
                let shown: String = text.chars().take(2_000).collect();
                panic!("{violation}\n{}\n{status} {shown}", self.description);
            }
        }
        Ok(CheckedResponse {
            status,
            headers,
            body: serde_json::from_str(&text).unwrap_or_default(),
            text,
            description: self.description,
        })
    }
}

/// Returns the OpenAPI document that the service serves, or `None` for listeners without a document (the operators' listener).
/// All tests run the same binary, so the document is read once for each build.
///
/// # Errors
/// If no complete response arrives.
async fn contract(http: &reqwest::Client, origin: &str) -> Result<Option<&'static Contract>, reqwest::Error> {
    static CONTRACT: OnceLock<Contract> = OnceLock::new();
    if let Some(contract) = CONTRACT.get() {
        return Ok(Some(contract));
    }
    let cache = DocumentCache::of(binary());
    let document = match cache.as_ref().and_then(DocumentCache::read) {
        Some(document) => document,
        None => {
            let response = http.get(format!("{origin}/openapi.json")).send().await?;
            if response.status() != reqwest::StatusCode::OK {
                return Ok(None);
            }
            let document = response.json().await?;
            if let Some(cache) = cache {
                cache.write(&document);
            }
            document
        }
    };
    let contract = Contract::new(document).unwrap();
    Ok(Some(CONTRACT.get_or_init(|| contract)))
}
