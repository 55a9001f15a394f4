//! Responses, and what tests expect of them.

use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::value_format;

/// A response that was checked against the OpenAPI document.
#[derive(Debug)]
pub struct CheckedResponse {
    /// The status code.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body as received.
    pub text: String,
    /// The body as JSON; null if it is not JSON.
    pub body: Value,
    pub(super) description: String,
}

impl CheckedResponse {
    /// Returns the text of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// Returns a header that is an integer.
    #[track_caller]
    #[must_use]
    pub fn header_number(&self, name: &str) -> i64 {
        let text = self.header(name).unwrap_or_else(|| panic!("no {name}: {self}"));
        text.parse()
            .unwrap_or_else(|_| panic!("{name} is {text:?}, not an integer: {self}"))
    }

    /// Asserts a successful response with this status, in the envelope, with rate limit headers and fields.
    #[track_caller]
    #[must_use]
    pub fn expect_ok(self, status: u16) -> Self {
        let response = self.expect_ok_without_limit(status);
        let limit = &response.body["meta"]["rate_limit"];
        for field in ["limit", "remaining", "reset"] {
            let shown = limit[field].as_i64();
            assert_eq!(
                shown,
                Some(response.header_number(&format!("X-RateLimit-{field}"))),
                "meta.rate_limit.{field} and its header: {response}"
            );
        }
        response
    }

    /// Asserts a successful response with this status, in the envelope, from a route without a rate limit.
    #[track_caller]
    #[must_use]
    pub fn expect_ok_without_limit(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self}");
        self.check_common();
        assert_eq!(self.body["success"], true, "{self}");
        assert!(self.body.get("data").is_some(), "no data: {self}");
        assert!(self.body.get("error").is_none(), "data and error: {self}");
        self
    }

    /// Asserts an error response with this status and code, in the envelope, without internal details.
    #[track_caller]
    #[must_use]
    pub fn expect_error(self, status: u16, code: &str) -> Self {
        assert_eq!(self.status, status, "{self}");
        self.check_error_response();
        assert_eq!(self.body["error"]["code"], code, "{self}");
        self
    }

    /// Asserts any error response, in the envelope, without internal details.
    #[track_caller]
    pub fn check_error_response(&self) {
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
            assert!(!self.text.contains(word), "the response contains {word:?}: {self}");
        }
    }

    /// Asserts a validation error (422) that names the field.
    #[track_caller]
    #[must_use]
    pub fn expect_field_error(self, field: &str) -> Self {
        let response = self.expect_error(422, "VALIDATION_ERROR");
        let messages = response.body["error"]["details"]["fields"].get(field);
        let named = messages
            .and_then(Value::as_array)
            .is_some_and(|messages| !messages.is_empty());
        assert!(named, "details.fields does not name {field}: {response}");
        response
    }

    /// Asserts an error 403 with this reason.
    #[track_caller]
    #[must_use]
    pub fn expect_forbidden(self, reason: &str) -> Self {
        let response = self.expect_error(403, "FORBIDDEN");
        assert_eq!(response.body["error"]["details"]["reason"], reason, "{response}");
        response
    }

    #[track_caller]
    pub(super) fn check_common(&self) {
        let kind = self.header("content-type").unwrap_or_default();
        assert!(kind.starts_with("application/json"), "content type {kind:?}: {self}");
        let id = self.header("x-request-id").unwrap_or_default();
        assert!(!id.is_empty(), "no X-Request-Id: {self}");
        assert!(self.body.is_object(), "the body is not a JSON object: {self}");
        value_format::check_numbers(&self.text);
        value_format::check_values(&self.body);
    }

    /// Returns the field `data`.
    #[must_use]
    pub fn data(&self) -> &Value {
        &self.body["data"]
    }

    /// Returns the field `data` of a list.
    #[track_caller]
    #[must_use]
    pub fn items(&self) -> &[Value] {
        self.data()
            .as_array()
            .unwrap_or_else(|| panic!("data is not a list: {self}"))
    }

    /// Returns a string field of `data`.
    #[track_caller]
    #[must_use]
    pub fn text_of(&self, field: &str) -> &str {
        self.data()[field]
            .as_str()
            .unwrap_or_else(|| panic!("{field} is not a string: {self}"))
    }

    /// Returns the field `data.id`.
    #[track_caller]
    #[must_use]
    pub fn id(&self) -> String {
        self.text_of("id").to_owned()
    }
}

impl std::fmt::Display for CheckedResponse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown: String = self.text.chars().take(2000).collect();
        write!(f, "{} returned {} {shown}", self.description, self.status)
    }
}
