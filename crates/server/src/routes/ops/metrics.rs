//! `GET /metrics`
//!
//! Metrics reveal much about a service and its users. On the main listener they are for programs of the same machine and for
//! operators' API keys. On the operators' listener (`server.ops_listen`) they need no key.

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::auth::Identity;
use crate::error::{ApiError, ErrorEnvelope};
use crate::layers::client::Peer;

/// The route.
pub(crate) const PATH: &str = "/metrics";

/// Headers in which proxies name the client or themselves. `X-Forwarded-*` counts, too.
const FORWARDED: [&str; 4] = ["forwarded", "x-real-ip", "x-client-ip", "via"];
const FORWARDED_PREFIX: &str = "x-forwarded-";

/// Marks requests that came in on the operators' own listener.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpsListener;

/// Get metrics
///
/// As Prometheus reads them. On the main listener for programs of the same machine, and for API keys of operators.
#[utoipa::path(
    get,
    path = "/metrics",
    tag = "Operation",
    responses(
        (status = 200, description = "The metrics", content_type = "text/plain", body = String, example = "http_requests_total 1"),
        (status = 401, description = "The request comes from another machine, without a key", content_type = "application/json", body = ErrorEnvelope),
        (status = 403, description = "The key is not an operator's", content_type = "application/json", body = ErrorEnvelope),
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

/// Whether a request comes from a program of this machine that is not a proxy.
fn is_local(peer: Peer, headers: &HeaderMap) -> bool {
    let is_forwarded = headers
        .keys()
        .any(|name| FORWARDED.contains(&name.as_str()) || name.as_str().starts_with(FORWARDED_PREFIX));
    peer.0.ip().to_canonical().is_loopback() && !is_forwarded
}

fn check_operator(identity: Option<Identity>) -> Result<(), ApiError> {
    match identity {
        Some(Identity::Known(actor)) if actor.is_operator => Ok(()),
        Some(Identity::Known(_)) => Err(ApiError::forbidden(
            "operator",
            Some("operator"),
            "metrics are for operators; use an operator's API key, or set server.ops_listen",
        )),
        Some(Identity::Refused(error) | Identity::Failed(error)) => Err(error),
        Some(Identity::Nobody | Identity::Scheduler) | None => Err(ApiError::unauthorized(
            "from another machine this needs an operator's API key; send it as X-API-Key or Authorization: Bearer, or set \
             server.ops_listen and read the metrics there",
        )),
    }
}
