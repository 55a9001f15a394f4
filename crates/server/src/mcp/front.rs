//! What is decided about a request before rmcp sees it (decisions 7.2).

use std::net::IpAddr;
use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header, request};
use serde_json::Value;
use service::Actor;

use super::access::Access;
use super::caller::{identify, insufficient_scope, too_many};
use super::cors;
use super::handler::{Caller, SUPPORTED};
use super::message::{self, Message};
use super::origin::Stranger;
use super::refusal::{Kind, Refusal};
use crate::app::App;
use crate::auth::Identity;
use crate::body;
use crate::error::{ApiError, Code};

/// What rmcp wants to be told that a client takes. It sends JSON.
const ACCEPT: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
/// rmcp's refusals that are not JSON are no longer than this.
const MAX_REFUSAL_BYTES: usize = 64 * 1024;

/// Answers a request to `/mcp`.
pub(crate) async fn answer(app: &App, address: IpAddr, request: Request) -> Response {
    let origin = request.headers().get(header::ORIGIN).cloned();
    let mut response = decided(app, address, request).await;
    cors::allow(app.mcp().places(), origin.as_ref(), response.headers_mut());
    response
}

async fn decided(app: &App, address: IpAddr, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let settings = app.settings();
    let body = body::collect(&parts.headers, body, settings.max_body_bytes, settings.timeouts.body).await;
    let body = match body {
        Ok(body) => body,
        Err(error) => return unreadable(&error).answer(&Value::Null),
    };
    let parsed = body::unique::parse(&body);
    let id = parsed.as_ref().map_or(Value::Null, message::id);
    let admitted = match admit(app, address, &parts, parsed).await {
        Ok(admitted) => admitted,
        Err(refusal) => return refusal.answer(&id),
    };
    let caller = Caller {
        app: app.clone(),
        actor: admitted,
    };
    let response = pass_on(app, parts, body, caller).await;
    in_json(response, &id).await
}

/// Decides, in the order of what must not depend on what.
async fn admit(
    app: &App,
    address: IpAddr,
    parts: &request::Parts,
    parsed: serde_json::Result<Value>,
) -> Result<Arc<Actor>, Refusal> {
    app.mcp().places().admit(&parts.uri, &parts.headers).map_err(strange)?;
    let now = app.now();
    let actor = identify(app, &parts.headers, address, now).await?;
    tracing::Span::current().record("principal", tracing::field::display(actor.account.0));
    body::check_kind(&parts.headers).map_err(|error| unreadable(&error))?;
    let message = Message::read(&parsed.map_err(|error| no_json(&error))?)?;
    check_accept(&parts.headers)?;
    check_version(&parts.headers, &message)?;
    let access = Access::of(message.target()?, &actor);
    let known = Identity::Known(Arc::clone(&actor));
    let counted = app.limiter().count(&known, access.group, address, now);
    if !counted.is_allowed {
        return Err(too_many(&counted, "requests have been made"));
    }
    if let Some(scope) = access.scope {
        let allowed = actor.require(scope);
        allowed.map_err(|error| insufficient_scope(app, scope, &error.to_string()))?;
    }
    Ok(actor)
}

/// Gives the request to rmcp, with who asks.
async fn pass_on(app: &App, mut parts: request::Parts, body: bytes::Bytes, caller: Caller) -> Response {
    parts.headers.insert(header::ACCEPT, ACCEPT);
    parts.extensions.insert(caller);
    let request = Request::from_parts(parts, http_body_util::Full::new(body));
    app.mcp().service().handle(request).await.map(Body::new).into_response()
}

/// rmcp refuses some requests in plain text.
async fn in_json(response: Response, id: &Value) -> Response {
    let is_json = response
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    let status = response.status();
    if is_json || !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    let text = to_bytes(response.into_body(), MAX_REFUSAL_BYTES)
        .await
        .unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    if status.is_server_error() {
        tracing::error!(%status, %text, "the MCP endpoint failed");
        return Refusal::new(status, Kind::Internal, crate::error::INTERNAL).answer(id);
    }
    Refusal::new(StatusCode::BAD_REQUEST, Kind::Request, text).answer(id)
}

fn strange(stranger: Stranger) -> Refusal {
    let message = match stranger {
        Stranger::Host => {
            "this service is not reached under this Host; use its public address, or have the operator add the name to \
             mcp.allowed_hosts"
        }
        Stranger::Origin => {
            "pages of this Origin may not call this service; the operator can add it to mcp.allowed_origins"
        }
    };
    Refusal::new(StatusCode::FORBIDDEN, Kind::Forbidden, message)
}

fn no_json(error: &serde_json::Error) -> Refusal {
    let message = format!("the body is not JSON: {error}; send one JSON-RPC request");
    Refusal::new(StatusCode::BAD_REQUEST, Kind::Parse, message)
}

fn unreadable(error: &ApiError) -> Refusal {
    let kind = match error.code() {
        Code::BadRequest => Kind::Parse,
        Code::ServiceUnavailable => Kind::Internal,
        _ => Kind::Form,
    };
    Refusal::new(error.code().status(), kind, error.message())
}

/// Any `Accept` is taken that lets JSON through; the revisions before 2026-07-28 ask for both kinds, and few clients do.
fn check_accept(headers: &HeaderMap) -> Result<(), Refusal> {
    let mut values = headers.get_all(header::ACCEPT).iter().peekable();
    if values.peek().is_none() {
        return Ok(());
    }
    let takes_json = |range: &str| {
        let mut parts = range.split(';').map(str::trim);
        let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
        let is_refused = parts.any(|part| matches!(part, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"));
        !is_refused && matches!(kind.as_str(), "*/*" | "application/*" | "application/json")
    };
    if values.any(|value| value.to_str().is_ok_and(|value| value.split(',').any(takes_json))) {
        return Ok(());
    }
    let message = "answers are JSON; send Accept: application/json, text/event-stream";
    Err(Refusal::new(StatusCode::NOT_ACCEPTABLE, Kind::Form, message))
}

/// What rmcp would take and this service does not.
fn check_version(headers: &HeaderMap, message: &Message) -> Result<(), Refusal> {
    let Some(header) = headers.get("mcp-protocol-version") else {
        return Ok(());
    };
    let named = header.to_str().unwrap_or_default();
    // What `_meta` names is refused by rmcp, with what it supports; `initialize` negotiates.
    if SUPPORTED.iter().any(|version| version.as_str() == named)
        || message.version().is_some()
        || message.method == "initialize"
    {
        return Ok(());
    }
    let supported: Vec<&str> = SUPPORTED.iter().map(|version| version.as_str()).collect();
    let text = format!(
        "this revision of the protocol is not spoken here; send MCP-Protocol-Version: {}",
        supported.join(" or ")
    );
    let data = serde_json::json!({"supported": supported, "requested": named});
    Err(Refusal::new(StatusCode::BAD_REQUEST, Kind::Version, text).data(data))
}
