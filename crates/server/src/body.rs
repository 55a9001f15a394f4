//! Request bodies: JSON objects with a size limit and a read timeout.
//!
//! | Problem | Status |
//! |---|---|
//! | Not JSON, not an object, or a duplicate key ([`unique_keys`]) | 400 |
//! | Larger than the limit | 413 |
//! | `Content-Type` is not JSON, or the body is compressed | 415 |
//! | Not received within the timeout | 503 |

pub mod form;
pub(crate) mod unique_keys;

use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use http::{HeaderMap, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde_json::Value;

use crate::error::{ApiError, ApiErrorCode};
use crate::state::App;

/// Extractor: a request body that is a JSON object.
#[derive(Clone, PartialEq, Debug)]
pub struct JsonObject(pub Value);

impl FromRequest<App> for JsonObject {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        let (headers, body) = read(request, app, app.settings().max_body_bytes).await?;
        parse_object(&headers, &body).map(Self)
    }
}

/// Extractor: an optional request body whose content is ignored. If present, it must be a JSON object.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct IgnoredJsonBody;

impl FromRequest<App> for IgnoredJsonBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        let (headers, body) = read(request, app, app.settings().max_body_bytes).await?;
        if !body.is_empty() {
            parse_object(&headers, &body)?;
        }
        Ok(Self)
    }
}

/// Extractor: a JSON object with pushed market data, up to the larger ingest limit.
#[derive(Clone, PartialEq, Debug)]
pub struct IngestJsonObject(pub Value);

impl FromRequest<App> for IngestJsonObject {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        let (headers, body) = read(request, app, app.settings().max_ingest_bytes).await?;
        parse_object(&headers, &body).map(Self)
    }
}

async fn read(request: Request, app: &App, max_bytes: usize) -> Result<(HeaderMap, Bytes), ApiError> {
    let (parts, body) = request.into_parts();
    let bytes = collect(&parts.headers, body, max_bytes, app.settings().timeouts.body).await?;
    Ok((parts.headers, bytes))
}

/// Reads a body to its end.
///
/// # Errors
/// 413 if it is larger than `max_bytes`, 503 if it takes longer than `timeout`, 400 if the client ends it early.
pub async fn collect(headers: &HeaderMap, body: Body, max_bytes: usize, timeout: Duration) -> Result<Bytes, ApiError> {
    let too_large = || {
        ApiError::new(
            ApiErrorCode::PayloadTooLarge,
            format!("the body is larger than {max_bytes} bytes; send a smaller body"),
        )
    };
    let announced = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| usize::try_from(length).map_or(true, |length| length > max_bytes)) {
        return Err(too_large());
    }
    match tokio::time::timeout(timeout, Limited::new(body, max_bytes).collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
        Ok(Err(_)) => Err(ApiError::bad_request("the body ended early; send the whole body")),
        Err(_) => Err(ApiError::new(
            ApiErrorCode::ServiceUnavailable,
            format!("the body did not arrive within {} s; send it faster", timeout.as_secs()),
        )),
    }
}

fn parse_object(headers: &HeaderMap, body: &[u8]) -> Result<Value, ApiError> {
    if body.is_empty() {
        return Err(ApiError::bad_request("the body is empty; send a JSON object"));
    }
    check_content_type(headers)?;
    let value = unique_keys::parse(body).map_err(|error| {
        ApiError::bad_request(if error.is_data() {
            format!("{error}; send each key once")
        } else {
            format!("the body is not JSON: {error}; send a JSON object")
        })
    })?;
    if value.is_object() {
        Ok(value)
    } else {
        Err(ApiError::bad_request("the body must be a JSON object"))
    }
}

/// Checks that a body is declared as uncompressed JSON.
///
/// # Errors
/// 415 if `Content-Type` is not JSON in UTF-8, or if `Content-Encoding` is not `identity`.
pub(crate) fn check_content_type(headers: &HeaderMap) -> Result<(), ApiError> {
    let refuse = |message: &str| Err(ApiError::new(ApiErrorCode::UnsupportedMediaType, message));
    let Some(content_type) = headers.get(header::CONTENT_TYPE) else {
        return refuse("the body has no Content-Type; send Content-Type: application/json");
    };
    if !content_type.to_str().is_ok_and(is_json) {
        return refuse("the body must be JSON in UTF-8; send Content-Type: application/json");
    }
    let mut codings = headers.get_all(header::CONTENT_ENCODING).iter();
    if codings.any(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        return refuse("the body must not be compressed; send it without Content-Encoding");
    }
    Ok(())
}

fn is_json(content_type: &str) -> bool {
    let mut parts = content_type.split(';').map(str::trim);
    let essence = parts.next().unwrap_or_default();
    essence.eq_ignore_ascii_case("application/json")
        && parts.all(|parameter| {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let value = value.trim_matches('"');
            !name.eq_ignore_ascii_case("charset") || value.eq_ignore_ascii_case("utf-8")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (name.parse::<http::HeaderName>().unwrap(), value.parse().unwrap()))
            .collect()
    }

    fn code(pairs: &[(&str, &str)], body: &[u8]) -> Option<ApiErrorCode> {
        parse_object(&headers(pairs), body).err().map(|error| error.code())
    }

    const JSON: (&str, &str) = ("content-type", "application/json");

    #[test]
    fn body_that_is_not_a_json_object_is_400() {
        let deep = format!("{{\"a\":{}1{}}}", "[".repeat(500), "]".repeat(500));
        for body in [
            "",
            "{",
            "[]",
            "null",
            "3",
            "\"text\"",
            "{\"a\":}",
            "{\"a\":NaN}",
            "{\"a\":1e999}",
            "{\"a\":\"\\ud800\"}",
            deep.as_str(),
        ] {
            assert_eq!(code(&[JSON], body.as_bytes()), Some(ApiErrorCode::BadRequest), "{body}");
        }
        assert_eq!(code(&[JSON], b"{\"a\":\"\xff\"}"), Some(ApiErrorCode::BadRequest));
        assert_eq!(code(&[JSON], b"{}"), None);
    }

    #[test]
    fn body_requires_a_json_content_type() {
        for (content_type, is_taken) in [
            ("application/json", true),
            ("Application/JSON; charset=UTF-8", true),
            ("application/json; charset=\"utf-8\"", true),
            ("application/json; charset=latin1", false),
            ("text/json", false),
            ("application/jsonp", false),
            ("application/x-www-form-urlencoded", false),
        ] {
            let refused = code(&[("content-type", content_type)], b"{}");
            assert_eq!(
                refused,
                (!is_taken).then_some(ApiErrorCode::UnsupportedMediaType),
                "{content_type}"
            );
        }
        assert_eq!(code(&[], b"{}"), Some(ApiErrorCode::UnsupportedMediaType));
        assert_eq!(code(&[], b""), Some(ApiErrorCode::BadRequest));
    }

    #[test]
    fn compressed_body_is_415() {
        assert_eq!(
            code(&[JSON, ("content-encoding", "gzip")], b"{}"),
            Some(ApiErrorCode::UnsupportedMediaType)
        );
        assert_eq!(code(&[JSON, ("content-encoding", "identity")], b"{}"), None);
    }

    #[test]
    fn duplicate_key_is_400_and_named() {
        let error = parse_object(&headers(&[JSON]), br#"{"a":1,"threshold":2,"threshold":3}"#).unwrap_err();
        assert_eq!(error.code(), ApiErrorCode::BadRequest);
        assert!(
            error.message().starts_with("the key \"threshold\" appears twice"),
            "{error:?}"
        );
        assert!(error.message().ends_with("send each key once"), "{error:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn stalled_body_is_503() {
        let never = Body::from_stream(futures_util::stream::pending::<Result<Bytes, std::io::Error>>());
        let error = collect(&HeaderMap::new(), never, 10, Duration::from_secs(5))
            .await
            .unwrap_err();
        assert_eq!(error.code(), ApiErrorCode::ServiceUnavailable);
    }

    #[tokio::test]
    async fn body_above_the_size_limit_is_413() {
        let timeout = Duration::from_secs(5);
        let whole = collect(&HeaderMap::new(), Body::from("0123456789"), 10, timeout)
            .await
            .unwrap();
        assert_eq!(whole.len(), 10);
        let error = collect(&HeaderMap::new(), Body::from("0123456789+"), 10, timeout)
            .await
            .unwrap_err();
        assert_eq!(error.code(), ApiErrorCode::PayloadTooLarge);
        let announced = headers(&[("content-length", "11")]);
        let never = Body::from_stream(futures_util::stream::pending::<Result<Bytes, std::io::Error>>());
        let error = collect(&announced, never, 10, timeout).await.unwrap_err();
        assert_eq!(error.code(), ApiErrorCode::PayloadTooLarge);
    }
}
