//! Bodies: JSON objects, read within a size and a time.
//!
//! What is not JSON, or JSON but no object, is 400; what is no JSON by its own word (`Content-Type`) or compressed, 415;
//! what is too large, 413; what does not arrive in time, 503. An object that has a key twice is 400, too ([`unique`]).

pub(crate) mod unique;

use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use http::{HeaderMap, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde_json::Value;

use crate::app::App;
use crate::error::{ApiError, Code};

/// The body of a request: a JSON object.
#[derive(Clone, PartialEq, Debug)]
pub struct JsonObject(pub Value);

impl FromRequest<App> for JsonObject {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        let settings = app.settings();
        let (headers, body) = read(request, settings.max_body_bytes, settings.timeouts.body).await?;
        object(&headers, &body).map(Self)
    }
}

/// The body of a request that may have none; if it has one, it is a JSON object, and ignored.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NoBody;

impl FromRequest<App> for NoBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        let settings = app.settings();
        let (headers, body) = read(request, settings.max_body_bytes, settings.timeouts.body).await?;
        if !body.is_empty() {
            object(&headers, &body)?;
        }
        Ok(Self)
    }
}

/// Market data that is pushed: a JSON object that may be large.
#[derive(Clone, PartialEq, Debug)]
pub struct PushedObject(pub Value);

impl FromRequest<App> for PushedObject {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        let settings = app.settings();
        let (headers, body) = read(request, settings.max_ingest_bytes, settings.timeouts.body).await?;
        object(&headers, &body).map(Self)
    }
}

async fn read(request: Request, max_bytes: usize, time: Duration) -> Result<(HeaderMap, Bytes), ApiError> {
    let (parts, body) = request.into_parts();
    let bytes = collect(&parts.headers, body, max_bytes, time).await?;
    Ok((parts.headers, bytes))
}

/// Reads a body to its end.
///
/// # Errors
/// 413 if it is larger than `max_bytes`, 503 if it takes longer than `time`, 400 if it breaks off.
pub async fn collect(headers: &HeaderMap, body: Body, max_bytes: usize, time: Duration) -> Result<Bytes, ApiError> {
    let too_large = || {
        ApiError::new(
            Code::PayloadTooLarge,
            format!("the body is larger than {max_bytes} bytes; send less at once"),
        )
    };
    let announced = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| usize::try_from(length).map_or(true, |length| length > max_bytes)) {
        return Err(too_large());
    }
    match tokio::time::timeout(time, Limited::new(body, max_bytes).collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
        Ok(Err(_)) => Err(ApiError::bad_request("the body broke off; send it whole")),
        Err(_) => Err(ApiError::new(
            Code::ServiceUnavailable,
            format!("the body did not arrive within {} s; send it at once", time.as_secs()),
        )),
    }
}

fn object(headers: &HeaderMap, body: &[u8]) -> Result<Value, ApiError> {
    if body.is_empty() {
        return Err(ApiError::bad_request("the body is empty; send a JSON object"));
    }
    check_kind(headers)?;
    let value = unique::parse(body).map_err(|error| {
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

/// # Errors
/// 415 for what is no JSON by its own word, or compressed.
pub(crate) fn check_kind(headers: &HeaderMap) -> Result<(), ApiError> {
    let refuse = |message: &str| Err(ApiError::new(Code::UnsupportedMediaType, message));
    let Some(kind) = headers.get(header::CONTENT_TYPE) else {
        return refuse("the body has no Content-Type; send Content-Type: application/json");
    };
    if !kind.to_str().is_ok_and(is_json) {
        return refuse("the body must be JSON in UTF-8; send Content-Type: application/json");
    }
    let mut codings = headers.get_all(header::CONTENT_ENCODING).iter();
    if codings.any(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        return refuse("the body must not be compressed; send it without Content-Encoding");
    }
    Ok(())
}

fn is_json(kind: &str) -> bool {
    let mut parts = kind.split(';').map(str::trim);
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

    fn code(pairs: &[(&str, &str)], body: &[u8]) -> Option<Code> {
        object(&headers(pairs), body).err().map(|error| error.code())
    }

    const JSON: (&str, &str) = ("content-type", "application/json");

    #[test]
    fn what_is_no_json_object_is_a_bad_request() {
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
            assert_eq!(code(&[JSON], body.as_bytes()), Some(Code::BadRequest), "{body}");
        }
        assert_eq!(code(&[JSON], b"{\"a\":\"\xff\"}"), Some(Code::BadRequest));
        assert_eq!(code(&[JSON], b"{}"), None);
    }

    #[test]
    fn a_body_says_that_it_is_json() {
        for (kind, is_taken) in [
            ("application/json", true),
            ("Application/JSON; charset=UTF-8", true),
            ("application/json; charset=\"utf-8\"", true),
            ("application/json; charset=latin1", false),
            ("text/json", false),
            ("application/jsonp", false),
            ("application/x-www-form-urlencoded", false),
        ] {
            let refused = code(&[("content-type", kind)], b"{}");
            assert_eq!(refused, (!is_taken).then_some(Code::UnsupportedMediaType), "{kind}");
        }
        assert_eq!(code(&[], b"{}"), Some(Code::UnsupportedMediaType));
        assert_eq!(code(&[], b""), Some(Code::BadRequest));
    }

    #[test]
    fn a_compressed_body_is_refused() {
        assert_eq!(
            code(&[JSON, ("content-encoding", "gzip")], b"{}"),
            Some(Code::UnsupportedMediaType)
        );
        assert_eq!(code(&[JSON, ("content-encoding", "identity")], b"{}"), None);
    }

    #[test]
    fn a_duplicate_key_is_a_bad_request_that_names_it() {
        let error = object(&headers(&[JSON]), br#"{"a":1,"threshold":2,"threshold":3}"#).unwrap_err();
        assert_eq!(error.code(), Code::BadRequest);
        assert!(
            error.message().starts_with("the key \"threshold\" appears twice"),
            "{error:?}"
        );
        assert!(error.message().ends_with("send each key once"), "{error:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_does_not_arrive_ends() {
        let never = Body::from_stream(futures_util::stream::pending::<Result<Bytes, std::io::Error>>());
        let error = collect(&HeaderMap::new(), never, 10, Duration::from_secs(5))
            .await
            .unwrap_err();
        assert_eq!(error.code(), Code::ServiceUnavailable);
    }

    #[tokio::test]
    async fn a_body_may_be_as_large_as_the_limit_and_no_larger() {
        let time = Duration::from_secs(5);
        let whole = collect(&HeaderMap::new(), Body::from("0123456789"), 10, time)
            .await
            .unwrap();
        assert_eq!(whole.len(), 10);
        let error = collect(&HeaderMap::new(), Body::from("0123456789+"), 10, time)
            .await
            .unwrap_err();
        assert_eq!(error.code(), Code::PayloadTooLarge);
        let announced = headers(&[("content-length", "11")]);
        let never = Body::from_stream(futures_util::stream::pending::<Result<Bytes, std::io::Error>>());
        let error = collect(&announced, never, 10, time).await.unwrap_err();
        assert_eq!(error.code(), Code::PayloadTooLarge);
    }
}
