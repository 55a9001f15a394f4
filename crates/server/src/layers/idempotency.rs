//! `Idempotency-Key` on POST: a request that is repeated gets the first answer, and is not done again.
//!
//! All of it is done in a task of its own, so that it comes to its end and the answer is kept even if the client goes away,
//! which is when a repeat matters. Repeats that come meanwhile wait for it. What was not done by any lasting
//! measure is not kept and may be tried again: refusals for want of rights (401, 403), too many requests (429), and all
//! that was our fault (5xx).
//!
//! A request without an account belongs to its client address. Clients can share an address, so its first answer is given only
//! to a request with the same body: a client that has the body has the password or token in it as well.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use serde_json::{Value, json};
use service::Actor;
use service::ServiceError;
use service::idempotency::{Begun, Claimant, Repeatable};
use service::market::may_push;
use tokio::sync::watch;
use tracing::Instrument;

use super::client::{self, Peer};
use super::guard::unpanicked;
use super::kept_answer::KeptAnswer;
use super::limit::Group;
use crate::answer::RateLimit;
use crate::app::App;
use crate::auth::Identity;
use crate::body;
use crate::error::{ApiError, Code};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const IDEMPOTENT_REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
const MAX_KEY_LEN: usize = 255;

/// How long a repeat waits for the first request to be done.
const WAIT: Duration = Duration::from_secs(10);
/// How soon a repeat that has waited in vain may come again.
const RETRY_AFTER_S: u64 = 2;

/// The requests of this process that are being done.
#[derive(Clone, Debug, Default)]
pub struct Underway(Arc<Mutex<HashMap<Repeatable, watch::Receiver<()>>>>);

/// Takes a request out of those that are being done, and wakes who waits for it.
struct Finished {
    underway: Underway,
    request: Repeatable,
    _wakes: watch::Sender<()>,
}

impl Underway {
    fn begin(&self, request: Repeatable) -> Finished {
        let (wakes, done) = watch::channel(());
        self.lock().insert(request, done);
        Finished {
            underway: self.clone(),
            request,
            _wakes: wakes,
        }
    }

    fn find(&self, request: &Repeatable) -> Option<watch::Receiver<()>> {
        self.lock().get(request).cloned()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Repeatable, watch::Receiver<()>>> {
        // A panic elsewhere leaves the map whole: every change is one insertion or removal.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Finished {
    fn drop(&mut self) {
        self.underway.lock().remove(&self.request);
    }
}

/// Answers repeats with the first answer.
pub async fn layer(State(app): State<App>, request: Request, next: Next) -> Response {
    if request.method() != Method::POST || !request.headers().contains_key(IDEMPOTENCY_KEY) {
        return next.run(request).await;
    }
    let requester = match request.extensions().get::<Identity>() {
        Some(Identity::Known(actor)) => Requester::Account(Arc::clone(actor)),
        // With an expired cookie one may still sign in or register.
        Some(Identity::Nobody | Identity::Refused(_)) => Requester::Address(client_address(&app, &request)),
        _ => return next.run(request).await,
    };
    let group = Group::of(request.uri().path());
    // Whoever may not push has nothing to repeat: the endpoint refuses them before it reads a body that may be large.
    if group == Some(Group::Ingest) && !requester.may_push() {
        return next.run(request).await;
    }
    let key = match key(request.headers()) {
        Ok(key) => key,
        Err(refusal) => return refusal.into_response(),
    };
    let (parts, body) = request.into_parts();
    let settings = app.settings();
    let max_bytes = match group {
        Some(Group::Ingest) => settings.max_ingest_bytes,
        _ => settings.max_body_bytes,
    };
    let body = match body::collect(&parts.headers, body, max_bytes, settings.timeouts.body).await {
        Ok(body) => body,
        Err(refusal) => return refusal.into_response(),
    };
    let repeatable = requester.request(&route(&parts.uri), &key, &body);
    let request = Request::from_parts(parts, Body::from(body));
    let task = async move { answer(&app, repeatable, request, next).await };
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
    fn may_push(&self) -> bool {
        match self {
            Self::Account(actor) => may_push(actor).is_ok(),
            Self::Address(_) => false,
        }
    }

    fn request(&self, route: &str, key: &str, body: &[u8]) -> Repeatable {
        match self {
            Self::Account(actor) => Repeatable::new(actor.account, &actor.via, route, key, body),
            Self::Address(address) => Repeatable::anonymous(*address, route, key, body),
        }
    }
}

fn client_address(app: &App, request: &Request) -> IpAddr {
    let peer = request.extensions().get::<Peer>().copied();
    client::address(peer, request.headers(), &app.settings().trusted_proxies)
}

/// The key that the client gave the request.
fn key(headers: &HeaderMap) -> Result<String, ApiError> {
    let mut values = headers.get_all(IDEMPOTENCY_KEY).iter();
    let fault = "must be 1 to 255 visible ASCII characters, such as a UUID, and come once";
    let refuse = || ApiError::field("Idempotency-Key", fault);
    let value = values.next().ok_or_else(refuse)?;
    let text = value.to_str().map_err(|_| refuse())?.trim();
    let is_printable = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if values.next().is_some() || !(1..=MAX_KEY_LEN).contains(&text.len()) || !is_printable {
        return Err(refuse());
    }
    Ok(text.to_owned())
}

/// The route, alike under both prefixes.
fn route(uri: &http::Uri) -> String {
    let text = uri.path_and_query().map_or("", |text| text.as_str());
    text.strip_prefix("/api").unwrap_or(text).to_owned()
}

async fn answer(app: &App, repeatable: Repeatable, request: Request, next: Next) -> Response {
    // More than once, because the first request may have ended, or come to nothing, in between.
    for _ in 0..3 {
        match app.service().idempotency.begin_repeatable(repeatable).await {
            Ok(Begun::First(claimant)) => return first(app, repeatable, claimant, request, next).await,
            Ok(Begun::Answered { status, body }) => {
                let rate_limit = request.extensions().get::<RateLimit>();
                return replayed(status, KeptAnswer::decode(&body), rate_limit);
            }
            Ok(Begun::Unreadable) => {
                let message = "this request was done, but what it was answered cannot be read any more; look whether what \
                               it made is there, and use another Idempotency-Key to do it again";
                return ApiError::new(Code::Conflict, message).into_response();
            }
            Ok(Begun::OfAnotherBody) => {
                let fault = "was used for a request with another body; give each request a key of its own";
                return ApiError::field("Idempotency-Key", fault).into_response();
            }
            Ok(Begun::Unfinished) => {
                let Some(mut underway) = app.underway().find(&repeatable) else {
                    continue;
                };
                // The sender is dropped when the first is done; nothing is ever sent.
                if tokio::time::timeout(WAIT, underway.changed()).await.is_err() {
                    break;
                }
            }
            Err(error) => return ApiError::from(error).into_response(),
        }
    }
    let message = "a request with this Idempotency-Key is being answered; send it again in a moment";
    ApiError::new(Code::Conflict, message)
        .retry_after(RETRY_AFTER_S)
        .into_response()
}

/// The body of the first answer, with the window of now: the headers tell that one, too.
fn with_rate_limit(body: Vec<u8>, rate_limit: Option<&RateLimit>) -> Vec<u8> {
    let (Some(rate_limit), Ok(mut envelope)) = (rate_limit, serde_json::from_slice::<Value>(&body)) else {
        return body;
    };
    let Some(kept) = envelope.pointer_mut("/meta/rate_limit") else {
        return body;
    };
    *kept = json!(rate_limit);
    alerts::json::to_vec(&envelope).unwrap_or(body)
}

fn replayed(status: u16, kept: KeptAnswer, rate_limit: Option<&RateLimit>) -> Response {
    let mut response = Response::new(Body::from(with_rate_limit(kept.body, rate_limit)));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    *response.headers_mut() = kept.headers;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(IDEMPOTENT_REPLAYED, HeaderValue::from_static("true"));
    response
}

async fn first(app: &App, repeatable: Repeatable, claimant: Claimant, request: Request, next: Next) -> Response {
    let _finished = app.underway().begin(repeatable);
    let limit = app.settings().timeouts.request;
    let response = tokio::time::timeout(limit, unpanicked(next.run(request))).await;
    let response = response
        .unwrap_or_else(|_| ApiError::new(Code::ServiceUnavailable, "this took too long; try again").into_response());
    kept(app, claimant, response).await
}

/// Keeps the answer, if it is one to be kept.
async fn kept(app: &App, claimant: Claimant, response: Response) -> Response {
    let service = app.service();
    if !is_kept(response.status()) {
        if let Err(error) = service.idempotency.release_repeatable(claimant).await {
            // A repeat is refused until the claim has expired, and done then.
            tracing::warn!(%error, "a claim to a repeatable request could not be given up");
        }
        return response;
    }
    let (parts, body) = response.into_parts();
    let body = match to_bytes(body, usize::MAX).await {
        Ok(body) => body,
        Err(error) => return ApiError::internal(error).into_response(),
    };
    let answer = KeptAnswer::encode(&parts.headers, &body);
    match service
        .idempotency
        .finish_repeatable(claimant, parts.status.as_u16(), &answer)
        .await
    {
        Ok(()) => Response::from_parts(parts, Body::from(body)),
        // It was done, but a repeat would not be known for one: better to say so than to promise it.
        Err(error @ ServiceError::StorageUnavailable(_)) => {
            tracing::error!(%error, "the answer to a repeatable request could not be kept");
            ApiError::new(Code::ServiceUnavailable, NOT_KEPT).into_response()
        }
        Err(error) => ApiError::from(error).into_response(),
    }
}

/// The message for a request that was done, but whose repeat would not be recognised.
const NOT_KEPT: &str = "the request was done, but its answer could not be kept for repeats with this Idempotency-Key; look before \
                        you repeat it";

fn is_kept(status: StatusCode) -> bool {
    let may_come_again = [
        StatusCode::UNAUTHORIZED,
        StatusCode::FORBIDDEN,
        StatusCode::TOO_MANY_REQUESTS,
    ];
    !status.is_server_error() && !may_come_again.contains(&status)
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
    fn a_key_is_a_short_visible_text_that_comes_once() {
        let longest = "k".repeat(MAX_KEY_LEN);
        let too_long = "k".repeat(MAX_KEY_LEN + 1);
        assert_eq!(key(&headers(&["order 66"])), Ok("order 66".to_owned()));
        assert!(key(&headers(&[&longest])).is_ok());
        for values in [&[""][..], &[" "], &["a", "a"], &["ä"], &[too_long.as_str()]] {
            assert!(key(&headers(values)).is_err(), "{values:?}");
        }
    }

    #[test]
    fn a_route_is_the_same_under_both_prefixes() {
        let one: http::Uri = "/api/v1/alerts?x=1".parse().unwrap();
        let other: http::Uri = "/v1/alerts?x=1".parse().unwrap();
        assert_eq!(route(&one), route(&other));
    }

    #[test]
    fn answers_that_a_repeat_could_better_are_not_kept() {
        for (status, is_one) in [
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
            assert_eq!(is_kept(StatusCode::from_u16(status).unwrap()), is_one, "{status}");
        }
    }

    #[tokio::test]
    async fn whoever_waits_is_woken_when_the_first_is_done_and_not_before() {
        let underway = Underway::default();
        let account = service::AccountId(uuid::Uuid::from_u128(1));
        let via = service::Via::Session {
            id: service::identity::SessionId(uuid::Uuid::from_u128(2)),
            by: service::access::Shown::Token,
        };
        let request = Repeatable::new(account, &via, "/v1/alerts", "one", b"{}");
        let finished = underway.begin(request);
        let mut waiting = underway.find(&request).unwrap();
        let waiter = tokio::spawn(async move { waiting.changed().await.is_err() });
        tokio::task::yield_now().await;
        assert!(!waiter.is_finished());
        drop(finished);
        assert!(waiter.await.unwrap());
        assert!(underway.find(&request).is_none());
    }
}
