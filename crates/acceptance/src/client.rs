//! Requests whose responses are checked for the rules of every response, and compared with the served OpenAPI document: it
//! must describe each response, and a body that it forbids must be refused.

use std::sync::OnceLock;

use contract::{Contract, Exchange};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, RequestBuilder};
use serde_json::Value;

use crate::shape;

/// Somebody who sends requests under one prefix, with an API key or without.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    /// `http://127.0.0.1:PORT`
    origin: String,
    prefix: &'static str,
    key: Option<String>,
}

impl Client {
    /// Somebody whom nobody knows.
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

    /// The same with an API key.
    #[must_use]
    pub fn with_key(&self, key: &str) -> Self {
        Self {
            key: Some(key.to_owned()),
            ..self.clone()
        }
    }

    /// The same without an API key.
    #[must_use]
    pub fn without_key(&self) -> Self {
        Self {
            key: None,
            ..self.clone()
        }
    }

    /// The same under another prefix.
    #[must_use]
    pub fn under(&self, prefix: &'static str) -> Self {
        Self { prefix, ..self.clone() }
    }

    /// The same, speaking with another address.
    #[must_use]
    pub fn at(&self, origin: &str) -> Self {
        Self {
            origin: origin.to_owned(),
            ..self.clone()
        }
    }

    /// The API key.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn key(&self) -> &str {
        self.key.as_deref().unwrap()
    }

    /// Where requests go, prefix included.
    #[must_use]
    pub fn base(&self) -> String {
        format!("{}{}", self.origin, self.prefix)
    }

    /// A request that has not been sent yet; `path` is what follows the prefix.
    #[must_use]
    pub fn request(&self, method: Method, path: &str) -> Request {
        self.request_to(method, &format!("{}{path}", self.prefix))
    }

    /// A request to a path outside the prefixes.
    #[must_use]
    pub fn request_to(&self, method: Method, path: &str) -> Request {
        let mut builder = self.http.request(method.clone(), format!("{}{path}", self.origin));
        if let Some(key) = &self.key {
            builder = builder.header("X-API-Key", key);
        }
        Request {
            builder,
            asked: format!("{method} {path}"),
            http: self.http.clone(),
            origin: self.origin.clone(),
            method,
            path: path.to_owned(),
            body: SentBody::None,
        }
    }

    /// The OpenAPI document that the program serves.
    ///
    /// # Panics
    /// If it serves none.
    pub async fn contract(&self) -> &'static Contract {
        let contract = contract(&self.http, &self.origin).await;
        contract.unwrap().expect("the program serves its document")
    }

    /// `GET`
    pub async fn get(&self, path: &str) -> Answer {
        self.request(Method::GET, path).send().await
    }

    /// `POST` with a JSON body.
    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.request(Method::POST, path).json(body).send().await
    }

    /// `POST` without a body.
    pub async fn post_empty(&self, path: &str) -> Answer {
        self.request(Method::POST, path).send().await
    }

    /// `PUT` with a JSON body.
    pub async fn put(&self, path: &str, body: &Value) -> Answer {
        self.request(Method::PUT, path).json(body).send().await
    }

    /// `DELETE`
    pub async fn delete(&self, path: &str) -> Answer {
        self.request(Method::DELETE, path).send().await
    }
}

/// A request that has not been sent yet.
#[derive(Debug)]
pub struct Request {
    builder: RequestBuilder,
    asked: String,
    http: reqwest::Client,
    origin: String,
    method: Method,
    path: String,
    body: SentBody,
}

/// The origin of a request's body, for the comparison with the document.
#[derive(Debug)]
enum SentBody {
    None,
    /// JSON that was written by a serializer.
    Json(String),
    /// Bytes that a test wrote, which may be anything.
    Raw,
}

impl Request {
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

    /// With a JSON body.
    #[must_use]
    pub fn json(self, body: &Value) -> Self {
        Self {
            asked: format!("{} {body}", self.asked),
            builder: self.builder.json(body),
            body: SentBody::Json(body.to_string()),
            ..self
        }
    }

    /// With a body that says it is JSON, whatever it is.
    #[must_use]
    pub fn raw(self, body: impl Into<reqwest::Body>) -> Self {
        Self {
            builder: self.builder.header("content-type", "application/json").body(body),
            body: SentBody::Raw,
            ..self
        }
    }

    /// With a body and no word about what it is.
    #[must_use]
    pub fn untyped(self, body: impl Into<reqwest::Body>) -> Self {
        Self {
            builder: self.builder.body(body),
            body: SentBody::Raw,
            ..self
        }
    }

    /// Sends it and reads the answer.
    ///
    /// # Panics
    /// If there is no answer.
    pub async fn send(self) -> Answer {
        let asked = self.asked.clone();
        self.try_send()
            .await
            .unwrap_or_else(|error| panic!("{asked}: {error:?}"))
    }

    /// Sends it and reads the answer; the program may be dead.
    ///
    /// # Errors
    /// If there is no whole answer.
    pub async fn try_send(self) -> Result<Answer, reqwest::Error> {
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
                panic!("{violation}\n{}\n{status} {shown}", self.asked);
            }
        }
        Ok(Answer {
            status,
            headers,
            body: serde_json::from_str(&text).unwrap_or_default(),
            text,
            asked: self.asked,
        })
    }
}

/// The document that the program serves; `None` where it serves none, as on the operators' listener. All programs of a test
/// are the same, so it is read once.
///
/// # Errors
/// If there is no whole answer.
async fn contract(http: &reqwest::Client, origin: &str) -> Result<Option<&'static Contract>, reqwest::Error> {
    static CONTRACT: OnceLock<Contract> = OnceLock::new();
    if let Some(contract) = CONTRACT.get() {
        return Ok(Some(contract));
    }
    let response = http.get(format!("{origin}/openapi.json")).send().await?;
    if response.status() != reqwest::StatusCode::OK {
        return Ok(None);
    }
    let contract = Contract::new(response.json().await?).unwrap();
    Ok(Some(CONTRACT.get_or_init(|| contract)))
}

/// What came back.
#[derive(Debug)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body as it came.
    pub text: String,
    /// The body as JSON; null if it is none.
    pub body: Value,
    asked: String,
}

impl Answer {
    /// A header's text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// A header that is a whole number.
    #[track_caller]
    #[must_use]
    pub fn header_number(&self, name: &str) -> i64 {
        let text = self.header(name).unwrap_or_else(|| panic!("no {name}: {self}"));
        text.parse()
            .unwrap_or_else(|_| panic!("{name} is {text:?}, no whole number: {self}"))
    }

    /// A success of that status, in the envelope, with the rate limit's window.
    #[track_caller]
    #[must_use]
    pub fn ok(self, status: u16) -> Self {
        let answer = self.ok_unlimited(status);
        let limit = &answer.body["meta"]["rate_limit"];
        for field in ["limit", "remaining", "reset"] {
            let shown = limit[field].as_i64();
            assert_eq!(
                shown,
                Some(answer.header_number(&format!("X-RateLimit-{field}"))),
                "meta.rate_limit.{field} and its header: {answer}"
            );
        }
        answer
    }

    /// A success of that status, in the envelope, of a route without a rate limit.
    #[track_caller]
    #[must_use]
    pub fn ok_unlimited(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self}");
        self.check_common();
        assert_eq!(self.body["success"], true, "{self}");
        assert!(self.body.get("data").is_some(), "no data: {self}");
        assert!(self.body.get("error").is_none(), "data and error: {self}");
        self
    }

    /// A refusal of that status and code, in the envelope, that leaks nothing.
    #[track_caller]
    #[must_use]
    pub fn refused(self, status: u16, code: &str) -> Self {
        assert_eq!(self.status, status, "{self}");
        self.check_refusal();
        assert_eq!(self.body["error"]["code"], code, "{self}");
        self
    }

    /// Any refusal, in the envelope, that leaks nothing.
    #[track_caller]
    pub fn check_refusal(&self) {
        self.check_common();
        assert!(self.status >= 400, "{self}");
        assert_eq!(self.body["success"], false, "{self}");
        let error = &self.body["error"];
        assert!(error["code"].is_string(), "no code: {self}");
        let message = error["message"].as_str().unwrap_or_default();
        assert!(message.len() > 3, "no message: {self}");
        let details = &error["details"];
        assert!(details.is_null() || details.is_object(), "details: {self}");
        for word in ["sqlx", "panicked", "src/", "SQLSTATE", "sqlite", "UNIQUE constraint"] {
            assert!(!self.text.contains(word), "the answer tells of {word:?}: {self}");
        }
    }

    /// A refusal with 422 that names the field.
    #[track_caller]
    #[must_use]
    pub fn wrong_field(self, field: &str) -> Self {
        let answer = self.refused(422, "VALIDATION_ERROR");
        let faults = answer.body["error"]["details"]["fields"].get(field);
        let named = faults
            .and_then(Value::as_array)
            .is_some_and(|faults| !faults.is_empty());
        assert!(named, "details.fields does not name {field}: {answer}");
        answer
    }

    /// A refusal with 403 for that reason.
    #[track_caller]
    #[must_use]
    pub fn forbidden(self, reason: &str) -> Self {
        let answer = self.refused(403, "FORBIDDEN");
        assert_eq!(answer.body["error"]["details"]["reason"], reason, "{answer}");
        answer
    }

    #[track_caller]
    fn check_common(&self) {
        let kind = self.header("content-type").unwrap_or_default();
        assert!(kind.starts_with("application/json"), "content type {kind:?}: {self}");
        let id = self.header("x-request-id").unwrap_or_default();
        assert!(!id.is_empty(), "no X-Request-Id: {self}");
        assert!(self.body.is_object(), "the body is no JSON object: {self}");
        shape::check_numbers(&self.text);
        shape::check_values(&self.body);
    }

    /// The payload.
    #[must_use]
    pub fn data(&self) -> &Value {
        &self.body["data"]
    }

    /// The payload of a list.
    #[track_caller]
    #[must_use]
    pub fn items(&self) -> &[Value] {
        self.data()
            .as_array()
            .unwrap_or_else(|| panic!("data is no list: {self}"))
    }

    /// A text in the payload.
    #[track_caller]
    #[must_use]
    pub fn text_of(&self, field: &str) -> &str {
        self.data()[field]
            .as_str()
            .unwrap_or_else(|| panic!("{field} is no text: {self}"))
    }

    /// The payload's id.
    #[track_caller]
    #[must_use]
    pub fn id(&self) -> String {
        self.text_of("id").to_owned()
    }
}

impl std::fmt::Display for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown: String = self.text.chars().take(2000).collect();
        write!(f, "{} answered {} {shown}", self.asked, self.status)
    }
}
