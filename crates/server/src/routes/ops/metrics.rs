//! `GET /metrics`
//!
//! Metrics reveal much about a service and its users. On the main listener they require a local client or an operator's API
//! key. On the operations listener (`server.ops_listen`) they require no key.

use axum::Extension;

use crate::auth::Identity;
use crate::error::ErrorEnvelope;
use crate::layers::client::Peer;
use crate::routes::prelude::*;

/// Path of the metrics endpoint.
pub(crate) const PATH: &str = "/metrics";

/// Headers that proxies add, besides `X-Forwarded-*`.
const PROXY_HEADERS: [&str; 4] = ["forwarded", "x-real-ip", "x-client-ip", "via"];
const PROXY_HEADER_PREFIX: &str = "x-forwarded-";

/// Request extension that marks requests on the operations listener.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpsListener;

/// Get metrics
///
/// Returns metrics in the Prometheus text format. On the main listener, access requires a client on the same machine or an
/// operator's API key.
#[utoipa::path(
    get,
    path = "/metrics",
    tag = "Operation",
    responses(
        (status = 200, description = "The metrics", content_type = "text/plain", body = String, example = "http_requests_total 1"),
        (status = 401,
         description = "The request comes from another machine without an API key",
         content_type = "application/json", body = ErrorEnvelope),
        (status = 403, description = "The API key does not belong to an operator", content_type = "application/json", body = ErrorEnvelope),
    ),
    security(("ApiKeyHeader" = []), ())
)]
pub(super) async fn get_metrics(
    State(app): State<App>,
    listener: Option<Extension<OpsListener>>,
    peer: Option<Extension<Peer>>,
    identity: Option<Extension<Identity>>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let is_local = peer.is_some_and(|Extension(peer)| is_local(peer, &headers));
    if listener.is_none() && !is_local {
        check_operator(identity.map(|Extension(identity)| identity))?;
    }
    let kind = (header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8");
    Ok(([kind], app.metrics()).into_response())
}

/// Returns whether a request comes from this machine and was not forwarded by a proxy.
fn is_local(peer: Peer, headers: &HeaderMap) -> bool {
    let is_forwarded = headers
        .keys()
        .any(|name| PROXY_HEADERS.contains(&name.as_str()) || name.as_str().starts_with(PROXY_HEADER_PREFIX));
    peer.0.ip().to_canonical().is_loopback() && !is_forwarded
}

fn check_operator(identity: Option<Identity>) -> Result<(), ApiError> {
    match identity {
        Some(Identity::Authenticated(actor)) if actor.is_operator => Ok(()),
        Some(Identity::Authenticated(_)) => Err(ApiError::forbidden(
            "operator",
            Some("operator"),
            "metrics require an operator; use an operator's API key, or set server.ops_listen",
        )),
        Some(Identity::Rejected(error) | Identity::Failed(error)) => Err(error),
        Some(Identity::Anonymous | Identity::Scheduler) | None => Err(ApiError::unauthorized(
            "remote access to metrics requires an operator's API key; send it as X-API-Key or Authorization: Bearer, or set \
             server.ops_listen and read the metrics there",
        )),
    }
}
