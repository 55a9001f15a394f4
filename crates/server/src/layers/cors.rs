//! What pages of other origins may ask: those routes of OAuth that are for programs, because some of them run in browsers.
//!
//! Nothing there goes by a cookie, so nobody is asked in somebody else's name. Whatever the answer is, also that there is too
//! much to do, the program can read it.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};

/// Lets pages of any origin read the answer, and tells them beforehand that they may ask.
pub async fn layer(request: Request, next: Next) -> Response {
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

/// How a route may be asked, if it may be from elsewhere.
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
