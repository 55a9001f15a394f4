//! CORS for agents in browsers: pages of allowed origins may call the endpoint and read its responses.

use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};

use super::origin::AllowedOrigins;
use crate::state::App;

/// The request headers that such pages may send.
const REQUEST_HEADERS: HeaderValue = HeaderValue::from_static(
    "authorization, content-type, x-api-key, mcp-protocol-version, mcp-method, mcp-name, mcp-session-id, last-event-id",
);
/// The response headers that such pages may read.
const RESPONSE_HEADERS: HeaderValue = HeaderValue::from_static("www-authenticate, retry-after, x-request-id");
/// The time that a browser caches a preflight response, in seconds.
const MAX_AGE_S: u32 = 600;

/// Responds to a preflight request.
pub(crate) fn preflight(app: &App, headers: &HeaderMap) -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    let response_headers = response.headers_mut();
    response_headers.insert(header::ALLOW, HeaderValue::from_static("POST"));
    if allow(app.mcp_origins(), headers.get(header::ORIGIN), response_headers) {
        response_headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("POST"));
        response_headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_HEADERS);
        response_headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from(MAX_AGE_S));
    }
    response
}

/// Adds the headers that let a page read the response, if its origin is allowed.
pub(super) fn allow(origins: &AllowedOrigins, origin: Option<&HeaderValue>, headers: &mut HeaderMap) -> bool {
    headers.insert(header::VARY, HeaderValue::from_static("Origin"));
    let Some(origin) = origin.filter(|origin| origin.to_str().is_ok_and(|text| origins.allows_origin(text))) else {
        return false;
    };
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, RESPONSE_HEADERS);
    true
}
