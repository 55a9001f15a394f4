//! CORS for the OAuth routes that clients call, because some clients run in browsers.
//!
//! These routes do not use cookies, so a request cannot act for a signed-in user. The client can read every response,
//! including errors such as 429.

use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};

use super::chain::Next;
use crate::state::App;

/// Lets pages of any origin read the response, and responds to preflight requests.
pub(crate) async fn layer(_app: App, request: Request, next: Next) -> Response {
    let Some(methods) = methods(request.uri().path()) else {
        return next.run(request).await;
    };
    let mut response = if *request.method() == Method::OPTIONS {
        let mut response = StatusCode::NO_CONTENT.into_response();
        preflight(response.headers_mut(), methods);
        response
    } else {
        next.run(request).await
    };
    let any = HeaderValue::from_static("*");
    response.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, any);
    response
}

/// Returns the allowed methods of a route that permits other origins.
fn methods(path: &str) -> Option<&'static str> {
    match path {
        "/.well-known/oauth-protected-resource"
        | "/.well-known/oauth-protected-resource/mcp"
        | "/.well-known/oauth-authorization-server"
        | "/.well-known/oauth-authorization-server/mcp" => Some("GET, HEAD, OPTIONS"),
        "/oauth/token" | "/oauth/register" | "/oauth/revoke" => Some("POST, OPTIONS"),
        _ => None,
    }
}

fn preflight(headers: &mut HeaderMap, methods: &'static str) {
    const ALLOWED: HeaderName = header::ACCESS_CONTROL_ALLOW_HEADERS;
    for (name, value) in [
        (header::ALLOW, methods),
        (header::ACCESS_CONTROL_ALLOW_METHODS, methods),
        (ALLOWED, "Content-Type, Authorization, MCP-Protocol-Version"),
        (header::ACCESS_CONTROL_MAX_AGE, "86400"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}
