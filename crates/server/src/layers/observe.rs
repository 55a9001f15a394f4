//! A request id, a span and metrics for every request.
//!
//! The span has method, route, status, duration, request id and principal. It never has headers, bodies or queries, because
//! these contain keys and user data.

use axum::extract::{MatchedPath, Request};
use axum::response::Response;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use metrics::{counter, histogram};
use tokio::time::Instant;
use tracing::{Instrument, field, info_span, record_all};

use super::chain::Next;
use crate::state::App;

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const MAX_REQUEST_ID_BYTES: usize = 128;

/// Records a request, from its headers to the start of its response.
pub(crate) async fn layer(app: App, request: Request, next: Next) -> Response {
    let id = valid_id(request.headers()).unwrap_or_else(|| new_id(&app));
    let method = request.method().clone();
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or_else(|| "unmatched".to_owned(), |path| path.as_str().to_owned());
    let span = info_span!(
        "request",
        method = method_name(&method),
        route,
        request_id = id.to_str().unwrap_or_default(),
        principal = field::Empty,
        status = field::Empty,
        duration_ms = field::Empty,
    );
    // tokio's clock, because tests can pause it.
    let started = Instant::now();
    let mut response = next.run(request).instrument(span.clone()).await;
    let duration = started.elapsed();
    let status = response.status();
    let duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    record_all!(span, status = status.as_u16(), duration_ms);
    span.in_scope(|| tracing::info!("request finished"));
    let labels = [
        ("method", method_name(&method).to_owned()),
        ("route", route.clone()),
        ("status", status.as_u16().to_string()),
    ];
    counter!("http_requests_total", &labels).increment(1);
    histogram!("http_request_duration_seconds", "route" => route).record(duration);
    response.headers_mut().insert(X_REQUEST_ID, id);
    let nosniff = HeaderValue::from_static("nosniff");
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, nosniff);
    response
}

/// Returns the request's own id, if it is safe for logs.
fn valid_id(headers: &HeaderMap) -> Option<HeaderValue> {
    let id = headers.get(&X_REQUEST_ID)?;
    let is_allowed = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    let bytes = id.as_bytes();
    ((1..=MAX_REQUEST_ID_BYTES).contains(&bytes.len()) && bytes.iter().all(is_allowed)).then(|| id.clone())
}

/// Returns a new request id.
pub(crate) fn new_id(app: &App) -> HeaderValue {
    HeaderValue::try_from(app.random().uuid().to_string()).unwrap_or(HeaderValue::from_static("none"))
}

/// Returns the name of a standard method, or `other`. This bounds the number of metric labels.
fn method_name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_id_is_kept_only_if_it_is_safe_for_logs() {
        let longest = "a".repeat(MAX_REQUEST_ID_BYTES);
        let too_long = "a".repeat(MAX_REQUEST_ID_BYTES + 1);
        for (id, is_kept) in [
            ("0b9c7c2e-8f0e", true),
            ("a.B_3-", true),
            (longest.as_str(), true),
            (too_long.as_str(), false),
            ("", false),
            ("a b", false),
            ("a\"b", false),
            ("a;b", false),
        ] {
            let headers = HeaderMap::from_iter([(X_REQUEST_ID, id.parse().unwrap())]);
            assert_eq!(valid_id(&headers).is_some(), is_kept, "{id:?}");
        }
    }
}
