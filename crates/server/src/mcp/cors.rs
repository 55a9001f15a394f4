//! Agents in browsers: pages of the origins that were added may call the endpoint and read its answers.

use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};

use super::origin::Places;
use crate::app::App;

/// What such pages may send.
const REQUEST_HEADERS: HeaderValue = HeaderValue::from_static(
    "authorization, content-type, x-api-key, mcp-protocol-version, mcp-method, mcp-name, mcp-session-id, last-event-id",
);
/// What they may read beside the body.
const RESPONSE_HEADERS: HeaderValue = HeaderValue::from_static("www-authenticate, retry-after, x-request-id");
/// A browser asks again after this time.
const MAX_AGE_S: u32 = 600;

/// Answers a browser that asks beforehand.
pub(crate) fn preflight(app: &App, headers: &HeaderMap) -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    let answer = response.headers_mut();
    answer.insert(header::ALLOW, HeaderValue::from_static("POST"));
    if allow(app.mcp().places(), headers.get(header::ORIGIN), answer) {
        answer.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("POST"));
        answer.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_HEADERS);
        answer.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from(MAX_AGE_S));
    }
    response
}

/// Lets the page read an answer, if its origin is known.
pub(super) fn allow(places: &Places, origin: Option<&HeaderValue>, answer: &mut HeaderMap) -> bool {
    answer.insert(header::VARY, HeaderValue::from_static("Origin"));
    let Some(origin) = origin.filter(|origin| origin.to_str().is_ok_and(|text| places.knows(text))) else {
        return false;
    };
    answer.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    answer.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, RESPONSE_HEADERS);
    true
}
