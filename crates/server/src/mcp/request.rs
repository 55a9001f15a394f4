//! Checks of a request before rmcp handles it (decisions 7.2).

use std::net::IpAddr;
use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use foundation::Actor;
use http::{HeaderMap, HeaderValue, StatusCode, header, request};
use serde_json::Value;

use super::access::Access;
use super::authentication::{authenticate, insufficient_scope, internal, too_many};
use super::cors;
use super::error::{JsonRpcError, JsonRpcErrorKind};
use super::handler::{Caller, McpEndpoint, SUPPORTED_VERSIONS};
use super::message::{self, Message};
use super::origin::OriginError;
use crate::auth::Identity;
use crate::body;
use crate::error::{ApiError, ApiErrorCode};
use crate::state::App;

/// The `Accept` header that rmcp requires. rmcp responds with JSON.
const ACCEPT: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
/// The maximum length of rmcp's plain-text errors, in bytes.
const MAX_RMCP_ERROR_BYTES: usize = 64 * 1024;

/// Responds to a request to `/mcp`.
pub(crate) async fn respond(app: &App, endpoint: &McpEndpoint, address: IpAddr, request: Request) -> Response {
    let origin = request.headers().get(header::ORIGIN).cloned();
    let mut response = checked_response(app, endpoint, address, request).await;
    cors::allow(app.mcp_origins(), origin.as_ref(), response.headers_mut());
    response
}

async fn checked_response(app: &App, endpoint: &McpEndpoint, address: IpAddr, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let settings = app.settings();
    let body = body::collect(&parts.headers, body, settings.max_body_bytes, settings.timeouts.body).await;
    let body = match body {
        Ok(body) => body,
        Err(error) => return unreadable(&error).into_response_for(&Value::Null),
    };
    let parsed = body::unique_keys::parse(&body);
    let id = parsed.as_ref().map_or(Value::Null, message::id);
    let admitted = match admit(app, address, &parts, parsed).await {
        Ok(admitted) => admitted,
        Err(error) => return error.into_response_for(&id),
    };
    let caller = Caller {
        app: app.clone(),
        actor: admitted,
    };
    let response = forward_to_rmcp(endpoint, parts, body, caller).await;
    as_json_rpc(response, &id).await
}

/// Checks the request and authenticates its caller. Later checks must not affect earlier ones.
async fn admit(
    app: &App,
    address: IpAddr,
    parts: &request::Parts,
    parsed: serde_json::Result<Value>,
) -> Result<Arc<Actor>, JsonRpcError> {
    app.mcp_origins()
        .check(&parts.uri, &parts.headers)
        .map_err(origin_error)?;
    let now = app.now();
    let actor = authenticate(app, &parts.headers, address, now).await?;
    tracing::Span::current().record("principal", tracing::field::display(actor.account.0));
    body::check_content_type(&parts.headers).map_err(|error| unreadable(&error))?;
    let message = Message::read(&parsed.map_err(|error| not_json(&error))?)?;
    check_accept(&parts.headers)?;
    check_version(&parts.headers, &message)?;
    let access = Access::of(message.target()?, &actor);
    let known = Identity::Authenticated(Arc::clone(&actor));
    let counted = app.rate_limiter().count(&known, access.group, address, now).await;
    let counted = counted.map_err(internal)?;
    if !counted.is_allowed {
        return Err(too_many(&counted, "requests"));
    }
    if let Some(scope) = access.scope {
        let allowed = actor.require(scope);
        allowed.map_err(|error| insufficient_scope(app, scope, &error.to_string()))?;
    }
    Ok(actor)
}

/// Passes the request and its caller to rmcp.
async fn forward_to_rmcp(
    endpoint: &McpEndpoint,
    mut parts: request::Parts,
    body: bytes::Bytes,
    caller: Caller,
) -> Response {
    parts.headers.insert(header::ACCEPT, ACCEPT);
    parts.extensions.insert(caller);
    let request = Request::from_parts(parts, http_body_util::Full::new(body));
    endpoint.service().handle(request).await.map(Body::new).into_response()
}

/// Converts rmcp's plain-text errors to JSON-RPC errors.
async fn as_json_rpc(response: Response, id: &Value) -> Response {
    let is_json = response
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    let status = response.status();
    if is_json || !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    let text = to_bytes(response.into_body(), MAX_RMCP_ERROR_BYTES)
        .await
        .unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    if status.is_server_error() {
        tracing::error!(%status, %text, "the MCP endpoint failed");
        return JsonRpcError::new(status, JsonRpcErrorKind::Internal, crate::error::INTERNAL_ERROR_MESSAGE)
            .into_response_for(id);
    }
    JsonRpcError::new(StatusCode::BAD_REQUEST, JsonRpcErrorKind::Request, text).into_response_for(id)
}

fn origin_error(error: OriginError) -> JsonRpcError {
    let message = match error {
        OriginError::Host => {
            "this Host is not allowed; use the service's public address, or ask the operator to add the name to \
             mcp.allowed_hosts"
        }
        OriginError::Origin => "this Origin is not allowed; the operator can add it to mcp.allowed_origins",
    };
    JsonRpcError::new(StatusCode::FORBIDDEN, JsonRpcErrorKind::Forbidden, message)
}

fn not_json(error: &serde_json::Error) -> JsonRpcError {
    let message = format!("the body is not JSON: {error}; send one JSON-RPC request");
    JsonRpcError::new(StatusCode::BAD_REQUEST, JsonRpcErrorKind::Parse, message)
}

fn unreadable(error: &ApiError) -> JsonRpcError {
    let kind = match error.code() {
        ApiErrorCode::BadRequest => JsonRpcErrorKind::Parse,
        ApiErrorCode::ServiceUnavailable => JsonRpcErrorKind::Internal,
        _ => JsonRpcErrorKind::Form,
    };
    JsonRpcError::new(error.code().status(), kind, error.message())
}

/// Accepts any `Accept` header that allows JSON. The revisions before 2026-07-28 require JSON and event streams, but few clients
/// send both.
fn check_accept(headers: &HeaderMap) -> Result<(), JsonRpcError> {
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
    let message = "responses are JSON; send Accept: application/json, text/event-stream";
    Err(JsonRpcError::new(
        StatusCode::NOT_ACCEPTABLE,
        JsonRpcErrorKind::Form,
        message,
    ))
}

/// Rejects protocol revisions that rmcp accepts and this service does not support.
fn check_version(headers: &HeaderMap, message: &Message) -> Result<(), JsonRpcError> {
    let Some(header) = headers.get("mcp-protocol-version") else {
        return Ok(());
    };
    let named = header.to_str().unwrap_or_default();
    // rmcp rejects unsupported revisions in `_meta`, and `initialize` negotiates the revision.
    if SUPPORTED_VERSIONS.iter().any(|version| version.as_str() == named)
        || message.version().is_some()
        || message.method == "initialize"
    {
        return Ok(());
    }
    let supported: Vec<&str> = SUPPORTED_VERSIONS.iter().map(|version| version.as_str()).collect();
    let text = format!(
        "this protocol version is not supported; send MCP-Protocol-Version: {}",
        supported.join(" or ")
    );
    let data = serde_json::json!({"supported": supported, "requested": named});
    Err(JsonRpcError::new(StatusCode::BAD_REQUEST, JsonRpcErrorKind::Version, text).data(data))
}
