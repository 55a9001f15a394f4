//! `Idempotency-Key` on POST: a repeated request gets the first response, and runs only once.
//!
//! Each request runs in a separate task, so that it finishes and its response is stored even if the client disconnects: such a client
//! repeats its request. Concurrent repeats wait for the first request, even if another process handles it. Responses of
//! requests that were refused for now are not stored, so the client can retry them: missing permissions (401, 403), too many
//! requests (429), and server errors (5xx). If the service itself failed, the request can be retried unless it has changed something.
//!
//! A request without an account belongs to its client address. Clients can share an address, so the first response is returned
//! only for the same body: a client that has the body also has the password or token in it.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use evaluation::market::require_push_permission;
use foundation::Actor;
use foundation::ServiceError;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use serde_json::{Value, json};
use service::idempotency::{IdempotencyLease, IdempotencyState, IdempotentRequest};
use tracing::Instrument;

use super::chain::Next;
use super::client;
use super::guard::catch_panic;
use super::stored_response::StoredResponse;
use crate::auth::Identity;
use crate::body;
use crate::error::{ApiError, ApiErrorCode};
use crate::rate_limiter::RateLimitGroup;
use crate::response::RateLimit;
use crate::state::App;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const IDEMPOTENT_REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
const MAX_KEY_BYTES: usize = 255;

/// The maximum time a repeat waits for the first request.
const MAX_WAIT: Duration = Duration::from_secs(10);
/// The pause before the second read of a request that another process handles. Each further pause is half as long again, up to
/// [`MAX_READ_PAUSE`].
const FIRST_READ_PAUSE: Duration = Duration::from_millis(50);
/// See [`FIRST_READ_PAUSE`].
const MAX_READ_PAUSE: Duration = Duration::from_millis(250);
/// `Retry-After` of repeats whose first request is still running, in seconds.
const RETRY_AFTER_SECONDS: u64 = 2;

/// Responds to repeats with the first response.
pub(crate) async fn layer(app: App, request: Request, next: Next) -> Response {
    if request.method() != Method::POST || !request.headers().contains_key(IDEMPOTENCY_KEY) {
        return next.run(request).await;
    }
    let requester = match request.extensions().get::<Identity>() {
        Some(Identity::Authenticated(actor)) => Requester::Account(Arc::clone(actor)),
        // A client with an expired cookie can still sign in or register.
        Some(Identity::Anonymous | Identity::Rejected(_)) => {
            Requester::Address(client::address_of(request.extensions(), request.headers(), &app))
        }
        _ => return next.run(request).await,
    };
    let group = RateLimitGroup::of(request.uri().path());
    // The endpoint refuses callers without the permission to push before it reads a body that may be large.
    if group == Some(RateLimitGroup::Ingest) && !requester.require_push_permission() {
        return next.run(request).await;
    }
    let key = match key(request.headers()) {
        Ok(key) => key,
        Err(refusal) => return refusal.into_response(),
    };
    let (parts, body) = request.into_parts();
    let settings = app.settings();
    let max_bytes = match group {
        Some(RateLimitGroup::Ingest) => settings.max_ingest_bytes,
        _ => settings.max_body_bytes,
    };
    let body = match body::collect(&parts.headers, body, max_bytes, settings.timeouts.body).await {
        Ok(body) => body,
        Err(refusal) => return refusal.into_response(),
    };
    let idempotent = requester.request(&route(&parts.uri), &key, &body);
    let request = Request::from_parts(parts, Body::from(body));
    let task = async move { respond(&app, idempotent, request, next).await };
    match tokio::spawn(task.instrument(tracing::Span::current())).await {
        Ok(response) => response,
        Err(error) => ApiError::internal(error).into_response(),
    }
}

/// The sender of a request.
enum Requester {
    /// An authenticated account.
    Account(Arc<Actor>),
    /// A client without an account.
    Address(IpAddr),
}

impl Requester {
    fn require_push_permission(&self) -> bool {
        match self {
            Self::Account(actor) => require_push_permission(actor).is_ok(),
            Self::Address(_) => false,
        }
    }

    fn request(&self, route: &str, key: &str, body: &[u8]) -> IdempotentRequest {
        match self {
            Self::Account(actor) => IdempotentRequest::new(actor.account, &actor.auth_method, route, key, body),
            Self::Address(address) => IdempotentRequest::anonymous(*address, route, key, body),
        }
    }
}

/// Returns the value of `Idempotency-Key`.
fn key(headers: &HeaderMap) -> Result<String, ApiError> {
    let mut values = headers.get_all(IDEMPOTENCY_KEY).iter();
    let message = "must be 1 to 255 visible ASCII characters, such as a UUID, and occur only once";
    let refuse = || ApiError::field("Idempotency-Key", message);
    let value = values.next().ok_or_else(refuse)?;
    let text = value.to_str().map_err(|_| refuse())?.trim();
    let is_printable = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if values.next().is_some() || !(1..=MAX_KEY_BYTES).contains(&text.len()) || !is_printable {
        return Err(refuse());
    }
    Ok(text.to_owned())
}

/// Returns the path and query without the prefix `/api`.
fn route(uri: &http::Uri) -> String {
    let text = uri.path_and_query().map_or("", |text| text.as_str());
    text.strip_prefix("/api").unwrap_or(text).to_owned()
}

async fn respond(app: &App, idempotent: IdempotentRequest, request: Request, next: Next) -> Response {
    // Several attempts, because the first request may finish or fail in between.
    for _ in 0..3 {
        match app.service().idempotency.begin_request(idempotent).await {
            Ok(IdempotencyState::Acquired(lease)) => return run_first(app, idempotent, lease, request, next).await,
            Ok(IdempotencyState::Completed { status, body }) => {
                let rate_limit = request.extensions().get::<RateLimit>();
                return replay(status, StoredResponse::decode(&body), rate_limit);
            }
            Ok(IdempotencyState::ResponseLost) => {
                let message = "this request was processed, at least in part, but its response was lost; check its result, and use \
                               another Idempotency-Key to run it again";
                return ApiError::new(ApiErrorCode::Conflict, message).into_response();
            }
            Ok(IdempotencyState::DifferentBody) => {
                let message = "was used for a request with a different body; use a new key for each request";
                return ApiError::field("Idempotency-Key", message).into_response();
            }
            Ok(IdempotencyState::InProgress) => {
                match tokio::time::timeout(MAX_WAIT, wait_for_end(app, idempotent)).await {
                    Ok(Ok(())) => {}
                    Ok(Err(error)) => return ApiError::from(error).into_response(),
                    Err(_) => break,
                }
            }
            Err(error) => return ApiError::from(error).into_response(),
        }
    }
    in_progress()
}

/// Waits until a request that is in progress has ended, in this process or in another one.
async fn wait_for_end(app: &App, idempotent: IdempotentRequest) -> Result<(), ServiceError> {
    if let Some(mut in_flight) = app.in_flight().find(&idempotent) {
        // The sender is dropped when the first request is done; it never sends a value.
        let _ = in_flight.changed().await;
        return Ok(());
    }
    let mut pause = FIRST_READ_PAUSE;
    while app.service().idempotency.is_in_progress_elsewhere(idempotent).await? {
        tokio::time::sleep(pause).await;
        pause = (pause * 3 / 2).min(MAX_READ_PAUSE);
    }
    Ok(())
}

/// Returns the body of the first response with the current rate limit, which the headers have too.
fn with_rate_limit(body: Vec<u8>, rate_limit: Option<&RateLimit>) -> Vec<u8> {
    let (Some(rate_limit), Ok(mut envelope)) = (rate_limit, serde_json::from_slice::<Value>(&body)) else {
        return body;
    };
    let Some(value) = envelope.pointer_mut("/meta/rate_limit") else {
        return body;
    };
    *value = json!(rate_limit);
    alerts::json::to_vec(&envelope).unwrap_or(body)
}

fn replay(status: u16, stored: StoredResponse, rate_limit: Option<&RateLimit>) -> Response {
    let mut response = Response::new(Body::from(with_rate_limit(stored.body, rate_limit)));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    *response.headers_mut() = stored.headers;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(IDEMPOTENT_REPLAYED, HeaderValue::from_static("true"));
    response
}

async fn run_first(
    app: &App,
    idempotent: IdempotentRequest,
    lease: IdempotencyLease,
    request: Request,
    next: Next,
) -> Response {
    let _finished = app.in_flight().begin(idempotent);
    let limit = app.settings().timeouts.request;
    let response = tokio::time::timeout(limit, catch_panic(lease.execute(next.run(request)))).await;
    let response = response.unwrap_or_else(|_| {
        ApiError::new(ApiErrorCode::ServiceUnavailable, "this took too long; try again").into_response()
    });
    store_response(app, lease, response).await
}

/// Stores the response, unless a repeat may get a different one.
async fn store_response(app: &App, lease: IdempotencyLease, response: Response) -> Response {
    let service = app.service();
    if !is_stored(response.status()) {
        return end_without_response(app, lease, response).await;
    }
    let (parts, body) = response.into_parts();
    let body = match to_bytes(body, usize::MAX).await {
        Ok(body) => body,
        Err(error) => return ApiError::internal(error).into_response(),
    };
    let stored = StoredResponse::encode(&parts.headers, &body);
    match service
        .idempotency
        .finish_request(lease, parts.status.as_u16(), &stored)
        .await
    {
        Ok(true) => Response::from_parts(parts, Body::from(body)),
        // A repeat is processed instead.
        Ok(false) => in_progress(),
        // The request may have changed something, but repeats do not get this response.
        Err(error @ ServiceError::StorageUnavailable(_)) => {
            tracing::error!(%error, "the response to an idempotent request could not be stored");
            not_repeatable(StatusCode::SERVICE_UNAVAILABLE)
        }
        Err(error) => ApiError::from(error).into_response(),
    }
}

/// Ends the lease of a request whose response is not stored.
async fn end_without_response(app: &App, lease: IdempotencyLease, response: Response) -> Response {
    let (idempotency, status) = (&app.service().idempotency, response.status());
    let is_failure = response
        .extensions()
        .get::<ApiError>()
        .is_some_and(ApiError::is_failure);
    let is_lost = match is_failure {
        true => idempotency.fail_request(lease, status.as_u16()).await,
        false => idempotency.release_request(lease).await.map(|()| false),
    };
    match is_lost {
        Ok(false) => response,
        Ok(true) => not_repeatable(status),
        Err(error) => {
            // Repeats get 409 until the lease expires, and then run unless the request has changed something.
            tracing::warn!(%error, "the lease of an idempotent request could not be released");
            response
        }
    }
}

/// The response to a repeat whose first request is still running.
fn in_progress() -> Response {
    let message = "a request with this Idempotency-Key is in progress; send it again in a moment";
    ApiError::new(ApiErrorCode::Conflict, message)
        .retry_after(RETRY_AFTER_SECONDS)
        .into_response()
}

/// The response to a request that was processed, at least in part, and will not be processed again with its key.
fn not_repeatable(status: StatusCode) -> Response {
    let code = match status {
        StatusCode::INTERNAL_SERVER_ERROR => ApiErrorCode::InternalError,
        _ => ApiErrorCode::ServiceUnavailable,
    };
    let message = "the request was processed, at least in part, but its response could not be stored for repeats with this \
                   Idempotency-Key; check its result before you send it again with another one";
    ApiError::new(code, message).into_response()
}

fn is_stored(status: StatusCode) -> bool {
    let retryable = [
        StatusCode::UNAUTHORIZED,
        StatusCode::FORBIDDEN,
        StatusCode::TOO_MANY_REQUESTS,
    ];
    !status.is_server_error() && !retryable.contains(&status)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(values: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(IDEMPOTENCY_KEY, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        headers
    }

    #[test]
    fn key_is_short_visible_ascii_and_unique() {
        let longest = "k".repeat(MAX_KEY_BYTES);
        let too_long = "k".repeat(MAX_KEY_BYTES + 1);
        assert_eq!(key(&headers(&["order 66"])), Ok("order 66".to_owned()));
        assert!(key(&headers(&[&longest])).is_ok());
        for values in [&[""][..], &[" "], &["a", "a"], &["ä"], &[too_long.as_str()]] {
            assert!(key(&headers(values)).is_err(), "{values:?}");
        }
    }

    #[test]
    fn route_is_the_same_under_both_prefixes() {
        let one: http::Uri = "/api/v1/alerts?x=1".parse().unwrap();
        let other: http::Uri = "/v1/alerts?x=1".parse().unwrap();
        assert_eq!(route(&one), route(&other));
    }

    #[test]
    fn retryable_responses_are_not_stored() {
        for (status, is_expected) in [
            (200, true),
            (201, true),
            (400, true),
            (404, true),
            (409, true),
            (422, true),
        ]
        .into_iter()
        .chain([(401, false), (403, false), (429, false), (500, false), (503, false)])
        {
            assert_eq!(
                is_stored(StatusCode::from_u16(status).unwrap()),
                is_expected,
                "{status}"
            );
        }
    }
}
