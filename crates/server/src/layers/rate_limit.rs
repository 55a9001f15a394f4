//! Rate limits: fixed windows per principal and group of routes (decisions 1.8).
//!
//! The principal is the account, or the client's address for requests without a valid key. Authentication runs before this
//! layer, so [`failed_auth`](crate::failed_auth) limits failed look-ups separately. Every response of the API has the
//! remaining requests.

use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderName, HeaderValue};
use metrics::counter;

use super::chain::Next;
use super::client;
use crate::auth::Identity;
use crate::error::{ApiError, ApiErrorCode};
use crate::fixed_window::RateLimitDecision;
use crate::rate_limiter::RateLimitGroup;
use crate::response::RateLimit;
use crate::state::App;

/// Responds 429 if the limit is exceeded, and adds the rate limit headers to every other response.
pub(crate) async fn layer(app: App, mut request: Request, next: Next) -> Response {
    let Some(group) = RateLimitGroup::of(request.uri().path()) else {
        return next.run(request).await;
    };
    let identity = request
        .extensions()
        .get::<Identity>()
        .cloned()
        .unwrap_or(Identity::Anonymous);
    let address = client::address_of(request.extensions(), request.headers(), &app);
    let counted = match app.rate_limiter().count(&identity, group, address, app.now()).await {
        Ok(counted) => counted,
        Err(error) => return ApiError::from(error).into_response(),
    };
    request.extensions_mut().insert(counted.rate_limit);
    if !counted.is_allowed {
        return limit_exceeded(group, &counted);
    }
    let mut response = next.run(request).await;
    // If the request also counted in another group, the response has the limit of that group.
    let rate_limit = response.extensions().get::<RateLimit>().copied();
    write(response.headers_mut(), rate_limit.unwrap_or(counted.rate_limit));
    response
}

/// Returns the response to a request that exceeds the limit of a group.
pub(crate) fn limit_exceeded(group: RateLimitGroup, counted: &RateLimitDecision) -> Response {
    let (limit, seconds) = (counted.rate_limit.limit, counted.retry_after_s);
    let message = format!("the limit of {limit} requests in this window is exceeded; try again in {seconds} s");
    too_many_requests(counted, group.name(), message)
}

/// Returns the 429 response, and counts it in the metrics.
pub(super) fn too_many_requests(decision: &RateLimitDecision, group: &'static str, message: String) -> Response {
    counter!("rate_limited_total", "group" => group).increment(1);
    let mut response = ApiError::new(ApiErrorCode::RateLimited, message)
        .retry_after(decision.retry_after_s)
        .into_response();
    write(response.headers_mut(), decision.rate_limit);
    response
}

fn write(headers: &mut HeaderMap, rate_limit: RateLimit) {
    let RateLimit {
        limit,
        remaining,
        reset,
    } = rate_limit;
    headers.insert(HeaderName::from_static("x-ratelimit-limit"), HeaderValue::from(limit));
    headers.insert(
        HeaderName::from_static("x-ratelimit-remaining"),
        HeaderValue::from(remaining),
    );
    headers.insert(HeaderName::from_static("x-ratelimit-reset"), HeaderValue::from(reset));
}
