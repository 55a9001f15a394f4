//! Completes the envelope of a response.

use axum::extract::Request;
use axum::response::Response;
use http::Method;

use super::chain::Next;
use crate::response::{self, RateLimit};
use crate::state::App;

/// Completes the envelope of the response with the caller's rate limit.
pub(crate) async fn layer(_app: App, request: Request, next: Next) -> Response {
    let rate_limit = request.extensions().get::<RateLimit>().copied().unwrap_or(RateLimit {
        limit: 0,
        remaining: 0,
        reset: 0,
    });
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let headers = is_read.then(|| request.headers().clone());
    let response = next.run(request).await;
    // If the request also counted in another group, the response has the limit of that group.
    let rate_limit = response.extensions().get::<RateLimit>().copied().unwrap_or(rate_limit);
    match headers {
        Some(headers) => response::into_conditional_envelope(response, rate_limit, &headers),
        None => response::into_envelope(response, rate_limit),
    }
}
