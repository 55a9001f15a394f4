//! Closes the envelope of an answer.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use http::Method;

use crate::answer::{self, RateLimit};

/// Closes the envelope of the answer with what is left of the caller's rate limit.
pub async fn layer(request: Request, next: Next) -> Response {
    let rate_limit = request.extensions().get::<RateLimit>().copied().unwrap_or(RateLimit {
        limit: 0,
        remaining: 0,
        reset: 0,
    });
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let headers = is_read.then(|| request.headers().clone());
    let response = next.run(request).await;
    // Whoever was counted in another group besides is told of that one.
    let rate_limit = response.extensions().get::<RateLimit>().copied().unwrap_or(rate_limit);
    match headers {
        Some(headers) => answer::seal_read(response, rate_limit, &headers),
        None => answer::seal(response, rate_limit),
    }
}
