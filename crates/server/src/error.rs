//! Error responses of the API: `{success: false, error: {code, message, details?}}`.
//!
//! [`ApiErrorCode`] lists all codes. [`From<ServiceError>`] maps the service's errors to codes and statuses.
//! Internal errors do not tell the client their cause; it is in the log.

mod details;
mod of_service;
mod refused_changes;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use foundation::{ErrorsByField, ServiceError, StockCandidate};
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

pub use details::{ErrorCandidate, ErrorDetails};
pub use refused_changes::RefusedChangeView;

/// An error code of the API, with its HTTP status.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schema(as = Code)]
pub enum ApiErrorCode {
    /// 400: the request is malformed.
    BadRequest,
    /// 401: credentials are missing or invalid.
    Unauthorized,
    /// 403: the credentials do not permit this request.
    Forbidden,
    /// 404: the resource does not exist.
    NotFound,
    /// 405: the route does not support the method.
    MethodNotAllowed,
    /// 409: the request conflicts with the current state.
    Conflict,
    /// 413: the body is too large.
    PayloadTooLarge,
    /// 415: the body has an unsupported media type.
    UnsupportedMediaType,
    /// 422: the request is well-formed, but its content is invalid.
    ValidationError,
    /// 429: too many requests.
    RateLimited,
    /// 500: an internal error.
    InternalError,
    /// 503: temporarily unavailable.
    ServiceUnavailable,
}

impl ApiErrorCode {
    /// All codes.
    pub const ALL: &'static [Self] = &[
        Self::BadRequest,
        Self::Unauthorized,
        Self::Forbidden,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::Conflict,
        Self::PayloadTooLarge,
        Self::UnsupportedMediaType,
        Self::ValidationError,
        Self::RateLimited,
        Self::InternalError,
        Self::ServiceUnavailable,
    ];

    /// Returns the HTTP status.
    #[must_use]
    pub const fn status(self) -> StatusCode {
        match self {
            Self::BadRequest => StatusCode::BAD_REQUEST,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::Forbidden => StatusCode::FORBIDDEN,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::Conflict => StatusCode::CONFLICT,
            Self::PayloadTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::ValidationError => StatusCode::UNPROCESSABLE_ENTITY,
            Self::RateLimited => StatusCode::TOO_MANY_REQUESTS,
            Self::InternalError => StatusCode::INTERNAL_SERVER_ERROR,
            Self::ServiceUnavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

/// The message of every internal error.
pub(crate) const INTERNAL_ERROR_MESSAGE: &str =
    "an internal error occurred; try again, and contact the operator if it happens again";

/// `Retry-After` of requests that failed because the database is unreachable or its disk is full, in seconds.
const STORAGE_RETRY_AFTER_SECONDS: u64 = 5;

/// An error response.
#[derive(Clone, PartialEq, Debug)]
pub struct ApiError {
    body: Box<ErrorBody>,
    retry_after_s: Option<u64>,
    /// Whether a validation error has status 400 instead of 422.
    validation_is_400: bool,
    /// Whether the service has refused the request for now, and has not failed.
    is_refusal: bool,
}

impl ApiError {
    /// Creates an error with a message that says how to fix the request.
    pub fn new(code: ApiErrorCode, message: impl Into<String>) -> Self {
        Self {
            body: Box::new(ErrorBody {
                code,
                message: message.into(),
                details: None,
            }),
            retry_after_s: None,
            validation_is_400: false,
            is_refusal: false,
        }
    }

    fn with_details(mut self, details: impl IntoIterator<Item = (&'static str, Value)>) -> Self {
        let details = details.into_iter().map(|(name, value)| (name.to_owned(), value));
        self.body.details = Some(details.collect());
        self
    }

    /// Creates an error with status 400.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(ApiErrorCode::BadRequest, message)
    }

    /// Creates an error with status 401.
    pub fn unauthorized(message: impl Into<String>) -> Self {
        Self::new(ApiErrorCode::Unauthorized, message)
    }

    /// Creates an error with status 403, its reason and the required permission.
    pub fn forbidden(reason: &str, required: Option<&str>, message: impl Into<String>) -> Self {
        let required = required.map(|required| ("required", json!(required)));
        let details = [("reason", json!(reason))].into_iter().chain(required);
        Self::new(ApiErrorCode::Forbidden, message).with_details(details)
    }

    /// Creates an error with status 404 and similar stocks as candidates.
    fn unknown_stock(message: String, candidates: &[StockCandidate]) -> Self {
        let candidates: Vec<Value> = candidates
            .iter()
            .map(|candidate| json!({"symbol": candidate.symbol.as_str(), "name": candidate.name}))
            .collect();
        let error = Self::new(ApiErrorCode::NotFound, message);
        if candidates.is_empty() {
            return error;
        }
        error.with_details([("candidates", json!(candidates))])
    }

    /// Creates a validation error for one field.
    pub fn field(name: &str, message: impl Into<String>) -> Self {
        ServiceError::field(name, message).into()
    }

    /// Creates a validation error with the messages of each field.
    #[must_use]
    pub fn fields(fields: &ErrorsByField) -> Self {
        let message = fields
            .iter()
            .flat_map(|(name, messages)| messages.iter().map(move |message| format!("{name}: {message}")))
            .collect::<Vec<_>>()
            .join(" | ");
        Self::validation(message, fields)
    }

    fn validation(message: String, fields: &ErrorsByField) -> Self {
        Self::new(ApiErrorCode::ValidationError, message).with_details([("fields", json!(fields))])
    }

    /// Creates an error with status 500. The cause is logged and not shown to the client.
    pub fn internal(error: impl std::fmt::Display) -> Self {
        tracing::error!(%error, "a request failed with an internal error");
        Self::new(ApiErrorCode::InternalError, INTERNAL_ERROR_MESSAGE)
    }

    /// Creates an error with status 503 for a request that cannot be processed now.
    fn not_now(message: String) -> Self {
        Self {
            is_refusal: true,
            ..Self::new(ApiErrorCode::ServiceUnavailable, message)
        }
    }

    /// Adds a `Retry-After` header, in seconds.
    #[must_use]
    pub fn retry_after(self, seconds: u64) -> Self {
        Self {
            retry_after_s: Some(seconds),
            ..self
        }
    }

    /// Converts an error of the service on routes that use 400 instead of 422 for validation errors (decisions 1.4).
    /// The code stays `VALIDATION_ERROR`.
    #[must_use]
    pub fn validation_as_400(error: ServiceError) -> Self {
        Self {
            validation_is_400: true,
            ..error.into()
        }
    }

    pub(crate) fn status(&self) -> StatusCode {
        match self.body.code {
            ApiErrorCode::ValidationError if self.validation_is_400 => StatusCode::BAD_REQUEST,
            code => code.status(),
        }
    }

    pub(crate) fn message(&self) -> &str {
        &self.body.message
    }

    /// Returns the value of `Retry-After` in seconds, if any.
    pub(crate) const fn retry_after_s(&self) -> Option<u64> {
        self.retry_after_s
    }

    pub(crate) const fn code(&self) -> ApiErrorCode {
        self.body.code
    }

    /// Returns whether the service itself has failed, so that the request may have been processed in part.
    pub(crate) fn is_failure(&self) -> bool {
        self.status().is_server_error() && !self.is_refusal
    }
}

impl ApiError {
    /// Returns `error` of the envelope.
    pub(crate) const fn body(&self) -> &ErrorBody {
        &self.body
    }

    const fn envelope(&self) -> ErrorEnvelope<'_> {
        ErrorEnvelope {
            success: false,
            error: &self.body,
        }
    }

    /// Returns the response body as a JSON value.
    pub(crate) fn to_json(&self) -> Value {
        serde_json::to_value(self.envelope()).unwrap_or_default()
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let body = alerts::json::to_vec(&self.envelope()).unwrap_or_default();
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = self.status();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(seconds) = self.retry_after_s {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.body.code == ApiErrorCode::Unauthorized {
            let challenge = HeaderValue::from_static(r#"ApiKey realm="api", Bearer realm="api""#);
            headers.insert(header::WWW_AUTHENTICATE, challenge);
        }
        // For browsers, which get a page instead.
        response.extensions_mut().insert(self);
        response
    }
}

/// The envelope of an error response.
#[derive(Debug, Serialize, ToSchema)]
pub struct ErrorEnvelope<'a> {
    /// Always `false`.
    pub success: bool,
    /// The error.
    pub error: &'a ErrorBody,
}

/// An error.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
pub struct ErrorBody {
    /// The error code, for programs.
    pub code: ApiErrorCode,
    /// A message for people: the problem and how to fix it.
    #[schema(example = "threshold: must be omitted for new_high")]
    pub message: String,
    /// Details for programs. A validation error has `fields`: the messages of each invalid field. An error with status
    /// 403 has `reason` (`scope`, `plan`, `session_required`, `operator`) and `required`. An unknown stock has
    /// `candidates`: similar stocks, each with `symbol` and `name`. The error of an expression, or of an alert's text, also has
    /// `position`, `expected` and `suggestions`. That of a batch has `refused`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<ErrorDetails>, nullable = false, example = json!({"fields": {"threshold": ["must be omitted for new_high"]}}))]
    pub details: Option<Map<String, Value>>,
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;

    use super::*;

    async fn body(error: ApiError) -> (StatusCode, String) {
        let response = error.into_response();
        let status = response.status();
        let bytes = to_bytes(response.into_body(), 10_000).await.unwrap();
        (status, String::from_utf8(bytes.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn validation_error_names_the_field_and_the_problem() {
        let (status, body) = body(ApiError::field("threshold", "must be omitted for new_high")).await;
        assert_eq!(status, 422);
        assert_eq!(
            body,
            concat!(
                r#"{"success":false,"error":{"code":"VALIDATION_ERROR","message":"threshold: must be omitted for new_high","#,
                r#""details":{"fields":{"threshold":["must be omitted for new_high"]}}}}"#
            )
        );
    }

    #[tokio::test]
    async fn validation_as_400_changes_the_status_and_keeps_the_code() {
        let (status, body) = body(ApiError::validation_as_400(ServiceError::field("url", "is required"))).await;
        assert_eq!(status, 400);
        assert!(body.contains(r#""code":"VALIDATION_ERROR""#), "{body}");
        let missing = ApiError::validation_as_400(ServiceError::NotFound("webhook"));
        assert_eq!(missing.status(), StatusCode::NOT_FOUND);
    }

    #[tokio::test]
    async fn internal_error_hides_its_cause() {
        let error = ServiceError::internal("table alerts: disk I/O error");
        let (status, body) = body(error.into()).await;
        assert_eq!(status, 500);
        assert!(
            body.contains("INTERNAL_ERROR") && !body.contains("alerts") && !body.contains("disk"),
            "{body}"
        );
    }

    #[tokio::test]
    async fn missing_scope_error_names_the_scope() {
        let error = ServiceError::Forbidden {
            reason: "scope",
            required: Some("alerts:write".to_owned()),
            message: "use another key".to_owned(),
        };
        let (status, body) = body(error.into()).await;
        assert_eq!(status, 403);
        assert!(
            body.contains(r#""details":{"reason":"scope","required":"alerts:write"}"#),
            "{body}"
        );
    }

    #[test]
    fn each_code_has_a_different_status() {
        let statuses: std::collections::BTreeSet<_> = ApiErrorCode::ALL.iter().map(|code| code.status()).collect();
        assert_eq!(statuses.len(), ApiErrorCode::ALL.len());
    }
}
