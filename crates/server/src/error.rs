//! The envelope of answers that refuse: `{success: false, error: {code, message, details?}}`.
//!
//! One table of codes ([`Code`]), one place where the service's refusals become statuses ([`From<ServiceError>`]).
//! A fault of this program says nothing of its cause to the client; the log has it.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;
use serde_json::{Map, Value, json};
use service::{Fields, ServiceError, StockCandidate};
use utoipa::ToSchema;

/// Every code there is, with its status.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Code {
    /// 400: the request cannot be read.
    BadRequest,
    /// 401: it is not known who asks.
    Unauthorized,
    /// 403: who asks may not do this.
    Forbidden,
    /// 404: there is no such thing.
    NotFound,
    /// 405: the route has no such method.
    MethodNotAllowed,
    /// 409: something else stands in the way.
    Conflict,
    /// 413: the body is too large.
    PayloadTooLarge,
    /// 415: the body is of another kind.
    UnsupportedMediaType,
    /// 422: the request can be read, but is wrong in content.
    ValidationError,
    /// 429: too many requests.
    RateLimited,
    /// 500: a fault of this program.
    InternalError,
    /// 503: not now.
    ServiceUnavailable,
}

impl Code {
    /// Every code there is.
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

    /// Its status.
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

/// What every fault of this program says to the client.
pub(crate) const INTERNAL: &str =
    "something went wrong on our side; try again, and tell the operator if it happens again";

/// When a request may be repeated that found the database away or its disk full, in seconds.
const STORAGE_RETRY_AFTER_SECONDS: u64 = 5;

/// Why a request is refused.
#[derive(Clone, PartialEq, Debug)]
pub struct ApiError {
    code: Code,
    message: String,
    details: Option<Map<String, Value>>,
    retry_after_s: Option<u64>,
    /// Whether wrong content is 400 here.
    has_no_422: bool,
}

impl ApiError {
    /// Refused with a code and a message that names the mend.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            details: None,
            retry_after_s: None,
            has_no_422: false,
        }
    }

    /// 400.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(Code::BadRequest, message)
    }

    /// 401.
    pub fn unauthorized(message: impl Into<String>) -> Self {
        Self::new(Code::Unauthorized, message)
    }

    /// 403, with what it takes.
    pub fn forbidden(reason: &str, required: Option<&str>, message: impl Into<String>) -> Self {
        let mut details = Map::from_iter([("reason".to_owned(), json!(reason))]);
        if let Some(required) = required {
            details.insert("required".to_owned(), json!(required));
        }
        Self {
            details: Some(details),
            ..Self::new(Code::Forbidden, message)
        }
    }

    /// 404, with the stocks that may have been meant.
    fn unknown_stock(message: String, candidates: &[StockCandidate]) -> Self {
        let candidates: Vec<Value> = candidates
            .iter()
            .map(|candidate| json!({"symbol": candidate.symbol.as_str(), "name": candidate.name}))
            .collect();
        let details = (!candidates.is_empty()).then(|| Map::from_iter([("candidates".to_owned(), json!(candidates))]));
        Self {
            details,
            ..Self::new(Code::NotFound, message)
        }
    }

    /// 422, one field being at fault.
    pub fn field(name: &str, fault: impl Into<String>) -> Self {
        ServiceError::field(name, fault).into()
    }

    /// 422, with what is wrong field by field.
    #[must_use]
    pub fn fields(fields: &Fields) -> Self {
        let message = fields
            .iter()
            .flat_map(|(name, faults)| faults.iter().map(move |fault| format!("{name}: {fault}")))
            .collect::<Vec<_>>()
            .join(" | ");
        Self::validation(message, fields)
    }

    fn validation(message: String, fields: &Fields) -> Self {
        Self {
            details: Some(Map::from_iter([("fields".to_owned(), json!(fields))])),
            ..Self::new(Code::ValidationError, message)
        }
    }

    /// 500. What happened is logged and not shown.
    pub fn internal(error: impl std::fmt::Display) -> Self {
        tracing::error!(%error, "a request failed on our side");
        Self::new(Code::InternalError, INTERNAL)
    }

    /// The same, to be tried again after so many seconds.
    #[must_use]
    pub fn retry_after(self, seconds: u64) -> Self {
        Self {
            retry_after_s: Some(seconds),
            ..self
        }
    }

    /// The service's refusal on a route that has 400 and no 422 for wrong content (decisions 1.4): its status is 400 then,
    /// its code stays.
    #[must_use]
    pub fn without_422(error: ServiceError) -> Self {
        Self {
            has_no_422: true,
            ..error.into()
        }
    }

    pub(crate) fn status(&self) -> StatusCode {
        match self.code {
            Code::ValidationError if self.has_no_422 => StatusCode::BAD_REQUEST,
            code => code.status(),
        }
    }

    /// What is wrong, and what to do about it.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Seconds until the request may be repeated, where that is known.
    pub(crate) const fn retry_after_s(&self) -> Option<u64> {
        self.retry_after_s
    }

    /// Its code.
    #[must_use]
    pub const fn code(&self) -> Code {
        self.code
    }
}

impl From<ServiceError> for ApiError {
    fn from(error: ServiceError) -> Self {
        match error {
            ServiceError::Malformed(message) => Self::bad_request(message),
            ServiceError::Invalid { message, fields } => Self::validation(message, &fields),
            ServiceError::Unauthenticated(message) => Self::unauthorized(message),
            ServiceError::Forbidden {
                reason,
                required,
                message,
            } => Self::forbidden(reason, required.as_deref(), message),
            ServiceError::NotFound(_) => Self::new(Code::NotFound, error.to_string()),
            ServiceError::UnknownStock { ref candidates, .. } => Self::unknown_stock(error.to_string(), candidates),
            ServiceError::Conflict(message) => Self::new(Code::Conflict, message),
            ServiceError::TooMany { message, retry_after_s } => {
                Self::new(Code::RateLimited, message).retry_after(retry_after_s)
            }
            ServiceError::Unavailable(message) => Self::new(Code::ServiceUnavailable, message),
            ServiceError::Overloaded { message, retry_after_s } => {
                Self::new(Code::ServiceUnavailable, message).retry_after(retry_after_s)
            }
            ServiceError::StorageUnavailable(ref source) => {
                tracing::error!(error = %source, "the database is not available");
                Self::new(Code::ServiceUnavailable, error.to_string()).retry_after(STORAGE_RETRY_AFTER_SECONDS)
            }
            ServiceError::Internal(source) => Self::internal(source),
        }
    }
}

impl ApiError {
    const fn envelope(&self) -> Failure<'_> {
        Failure {
            success: false,
            error: Fault {
                code: self.code,
                message: self.message.as_str(),
                details: self.details.as_ref(),
            },
        }
    }

    /// The body of the answer, as a value.
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
        if self.code == Code::Unauthorized {
            let ways = HeaderValue::from_static(r#"ApiKey realm="api", Bearer realm="api""#);
            headers.insert(header::WWW_AUTHENTICATE, ways);
        }
        response
    }
}

#[derive(Serialize)]
struct Failure<'a> {
    success: bool,
    error: Fault<'a>,
}

#[derive(Serialize)]
struct Fault<'a> {
    code: Code,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<&'a Map<String, Value>>,
}

/// A refusal as the OpenAPI document describes it.
#[derive(Debug, Serialize, ToSchema)]
pub struct ErrorEnvelope {
    /// Always `false`.
    pub success: bool,
    /// Why.
    pub error: ErrorBody,
}

/// Why a request is refused.
#[derive(Debug, Serialize, ToSchema)]
pub struct ErrorBody {
    /// For programs.
    pub code: Code,
    /// For people: what is wrong and what to do about it.
    #[schema(example = "threshold: must be omitted for new_high")]
    pub message: String,
    /// More for programs. Of a validation error `fields`: for each field at fault what is wrong with it. Of a refusal
    /// for want of rights `reason` (`scope`, `plan`, `session_required`, `operator`) and `required`. Of an unknown stock
    /// `candidates`: similar stocks, each with `symbol` and `name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>, nullable = false, example = json!({"fields": {"threshold": ["must be omitted for new_high"]}}))]
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
    async fn a_validation_error_says_which_field_and_what_is_allowed() {
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
    async fn where_there_is_no_422_wrong_content_is_400_under_its_own_code() {
        let (status, body) = body(ApiError::without_422(ServiceError::field("url", "is required"))).await;
        assert_eq!(status, 400);
        assert!(body.contains(r#""code":"VALIDATION_ERROR""#), "{body}");
        let missing = ApiError::without_422(ServiceError::NotFound("webhook"));
        assert_eq!(missing.status(), StatusCode::NOT_FOUND);
    }

    #[tokio::test]
    async fn a_fault_of_ours_says_nothing_of_its_cause() {
        let error = ServiceError::internal("table alerts: disk I/O error");
        let (status, body) = body(error.into()).await;
        assert_eq!(status, 500);
        assert!(
            body.contains("INTERNAL_ERROR") && !body.contains("alerts") && !body.contains("disk"),
            "{body}"
        );
    }

    #[tokio::test]
    async fn a_refusal_for_want_of_a_scope_names_it() {
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
    fn each_code_has_a_status_of_its_own() {
        let statuses: std::collections::BTreeSet<_> = Code::ALL.iter().map(|code| code.status()).collect();
        assert_eq!(statuses.len(), Code::ALL.len());
    }
}
