//! Headers of responses, and the content of error responses.

use serde_json::{Value, json};

use super::JSON;
use crate::error::{ApiError, ApiErrorCode, INTERNAL_ERROR_MESSAGE};

/// Errors that have an error envelope everywhere, including pages.
const ALWAYS_JSON: [ApiErrorCode; 3] = [
    ApiErrorCode::NotFound,
    ApiErrorCode::PayloadTooLarge,
    ApiErrorCode::UnsupportedMediaType,
];

/// Returns the components of the headers.
pub(super) fn headers() -> Value {
    let header = |description: &str, schema: Value, example: Value| json!({"description": description, "schema": schema, "example": example});
    json!({
        "X-RateLimit-Limit": header("The maximum number of requests in a window", json!({"type": "integer", "minimum": 0}), json!(100)),
        "X-RateLimit-Remaining": header("The remaining requests in the window", json!({"type": "integer", "minimum": 0}), json!(99)),
        "X-RateLimit-Reset": header(
            "The end of the window, in milliseconds since the Unix epoch",
            json!({"type": "integer", "format": "int64", "minimum": 0}),
            json!(1_767_369_600_000_i64),
        ),
        "X-Request-Id": header(
            "The request id: the one from the request, or a new one",
            json!({"type": "string", "pattern": "^[A-Za-z0-9._-]{1,128}$"}),
            json!("0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11"),
        ),
        "Retry-After": header("Seconds to wait before trying again", json!({"type": "integer", "minimum": 1}), json!(1800)),
        "Idempotent-Replayed": header(
            "`true` if this is the stored response of an earlier request with the same `Idempotency-Key`",
            json!({"type": "string", "enum": ["true"]}),
            json!("true"),
        ),
        "WWW-Authenticate": header("The accepted authentication schemes", json!({"type": "string"}), json!("ApiKey realm=\"api\"")),
    })
}

/// Adds the common headers to a response, and its content to an error response.
pub(super) fn complete(status: &str, response: &mut Value, is_api: bool, may_be_replayed: bool) {
    let code = ApiErrorCode::ALL.iter().find(|code| code.status().as_str() == status);
    if let Some(code) = code
        && (is_api || ALWAYS_JSON.contains(code) && response["content"].get(JSON).is_none())
    {
        response["content"] = json!({JSON: {
            "schema": {"$ref": "#/components/schemas/ErrorEnvelope"},
            "example": example(*code),
        }});
    }
    let mut names = vec!["X-Request-Id"];
    if is_api {
        names.extend(["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"]);
    }
    match code {
        Some(ApiErrorCode::RateLimited) => names.push("Retry-After"),
        // Not for a stock without a price, because it is unknown when a price will be available.
        Some(ApiErrorCode::ServiceUnavailable | ApiErrorCode::Conflict) if is_api => names.push("Retry-After"),
        Some(ApiErrorCode::Unauthorized) => names.push("WWW-Authenticate"),
        None if may_be_replayed => names.push("Idempotent-Replayed"),
        _ => {}
    }
    response["headers"] = names
        .into_iter()
        .map(|name| (name, json!({"$ref": format!("#/components/headers/{name}")})))
        .collect();
}

/// The texts of an error response.
pub(super) struct ErrorTexts {
    pub(super) description: &'static str,
    /// The message of the example.
    message: &'static str,
}

/// Returns the texts of the error responses with a code.
pub(super) const fn error_texts(code: ApiErrorCode) -> ErrorTexts {
    let (description, message) = match code {
        ApiErrorCode::BadRequest => ("The body is not a JSON object", "the body is empty; send a JSON object"),
        ApiErrorCode::Unauthorized => (
            "Credentials are missing or invalid",
            "authentication is required; send an API key as X-API-Key, or an API key or access token as Authorization: Bearer",
        ),
        ApiErrorCode::Forbidden => (
            "The key's scopes or the account's plan do not permit this; `details` has the required permission",
            "this API key lacks the scope alerts:write; use a key that has it",
        ),
        ApiErrorCode::NotFound => ("The resource does not exist", "there is no such alert; check its id"),
        ApiErrorCode::MethodNotAllowed => (
            "The route does not support this method",
            "this route does not support this method; the Allow header lists the supported methods",
        ),
        ApiErrorCode::Conflict => (
            "A request with this `Idempotency-Key` is in progress (then with `Retry-After`), or it was processed, at least in part, and its \
             response was lost",
            "a request with this Idempotency-Key is in progress; send it again in a moment",
        ),
        ApiErrorCode::PayloadTooLarge => (
            "The body is too large",
            "the body is larger than 1048576 bytes; send a smaller body",
        ),
        ApiErrorCode::UnsupportedMediaType => (
            "The body is not `application/json` in UTF-8, or it is compressed",
            "the body must be JSON in UTF-8; send Content-Type: application/json",
        ),
        ApiErrorCode::ValidationError => (
            "The content is invalid; `details.fields` has the messages of each field",
            "must be omitted for new_high",
        ),
        ApiErrorCode::RateLimited => (
            "Too many requests in this window",
            "the limit of 100 requests in this window is exceeded; try again in 1800 s",
        ),
        ApiErrorCode::InternalError => ("An internal error", INTERNAL_ERROR_MESSAGE),
        ApiErrorCode::ServiceUnavailable => (
            "Temporarily unavailable; try again",
            "this took longer than 30 s; try again",
        ),
    };
    ErrorTexts { description, message }
}

/// Returns an example of an error response.
fn example(code: ApiErrorCode) -> Value {
    let message = error_texts(code).message;
    let error = match code {
        ApiErrorCode::ValidationError => ApiError::field("threshold", message),
        ApiErrorCode::Forbidden => ApiError::forbidden("scope", Some("alerts:write"), message),
        _ => ApiError::new(code, message),
    };
    error.to_json()
}
