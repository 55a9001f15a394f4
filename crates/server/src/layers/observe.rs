//! A request id, a span and metrics for every request.
//!
//! The span says method, route, status, duration, request id and principal. It never has headers, bodies or queries:
//! they hold keys and what users wrote.

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use metrics::{counter, histogram};
use tokio::time::Instant;
use tracing::{Instrument, field, info_span};

use crate::app::App;

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const MAX_ID_LEN: usize = 128;

/// Observes a request from its headers to the beginning of its answer.
pub async fn layer(State(app): State<App>, request: Request, next: Next) -> Response {
    let id = sane_id(request.headers()).unwrap_or_else(|| new_id(&app));
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
    // tokio's clock, because it stands still when a test makes it.
    let begun = Instant::now();
    let mut response = next.run(request).instrument(span.clone()).await;
    let duration = begun.elapsed();
    let status = response.status();
    span.record("status", status.as_u16());
    span.record("duration_ms", u64::try_from(duration.as_millis()).unwrap_or(u64::MAX));
    span.in_scope(|| tracing::info!("answered"));
    let labels = [
        ("method", method_name(&method).to_owned()),
        ("route", route.clone()),
        ("status", status.as_u16().to_string()),
    ];
    counter!("http_requests_total", &labels).increment(1);
    histogram!("http_request_duration_seconds", "route" => route).record(duration);
    response.headers_mut().insert(X_REQUEST_ID, id);
    // Whatever it is, it is what it says it is.
    let nosniff = HeaderValue::from_static("nosniff");
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, nosniff);
    response
}

/// The id that came with the request, if it is fit for logs.
fn sane_id(headers: &HeaderMap) -> Option<HeaderValue> {
    let id = headers.get(&X_REQUEST_ID)?;
    let is_sane = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    let bytes = id.as_bytes();
    ((1..=MAX_ID_LEN).contains(&bytes.len()) && bytes.iter().all(is_sane)).then(|| id.clone())
}

/// A request id of our own.
pub(crate) fn new_id(app: &App) -> HeaderValue {
    HeaderValue::try_from(app.chance().uuid().to_string()).unwrap_or(HeaderValue::from_static("none"))
}

/// The method, if it is one of those that are known: a client can invent any number of others.
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
    fn an_id_that_is_fit_for_logs_is_kept_and_no_other() {
        let longest = "a".repeat(MAX_ID_LEN);
        let too_long = "a".repeat(MAX_ID_LEN + 1);
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
            assert_eq!(sane_id(&headers).is_some(), is_kept, "{id:?}");
        }
    }
}
