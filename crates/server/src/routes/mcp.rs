//! `POST /mcp`

use std::sync::Arc;

use axum::Extension;
use axum::extract::Request;
use axum::routing::options;
use serde_json::{Map, Value};

use crate::mcp::{self, McpEndpoint};
use crate::routes::prelude::*;

pub(crate) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(call_mcp))
        .route("/mcp", options(preflight))
}

/// A JSON-RPC request, or a notification (without an id).
#[derive(Debug, Serialize, ToSchema)]
pub struct McpRequest {
    /// Always `2.0`.
    #[schema(pattern = r"^2\.0$", example = "2.0")]
    pub jsonrpc: String,
    /// Request id, a string or a whole number; repeated in the response.
    #[schema(value_type = Option<i64>, nullable = false, example = 1)]
    pub id: Option<i64>,
    /// The method: `initialize`, `server/discover`, `ping`, `tools/list`, `tools/call`, `resources/list`,
    /// `resources/templates/list`, `resources/read`, `prompts/list`, `prompts/get`.
    #[schema(example = "tools/list")]
    pub method: String,
    /// Parameters of the method.
    #[schema(value_type = Option<Object>, nullable = false)]
    pub params: Option<Map<String, Value>>,
}

/// A JSON-RPC response: a `result` or an `error`.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = McpAnswer)]
pub struct McpResponse {
    /// Always `2.0`.
    #[schema(example = "2.0")]
    pub jsonrpc: String,
    /// Id of the request; null if it is missing or unreadable.
    pub id: Value,
    /// The result.
    #[schema(value_type = Option<Object>, nullable = false)]
    pub result: Option<Map<String, Value>>,
    /// The error.
    #[schema(nullable = false)]
    pub error: Option<McpError>,
}

/// A JSON-RPC error.
#[derive(Debug, Serialize, ToSchema)]
pub struct McpError {
    /// JSON-RPC error code.
    #[schema(example = -32602)]
    pub code: i32,
    /// Description of the problem and the fix.
    pub message: String,
    /// Details.
    #[schema(value_type = Option<Object>, nullable = false)]
    pub data: Option<Map<String, Value>>,
}

/// Call an MCP method
///
/// The Model Context Protocol over HTTP: one JSON-RPC request per POST, JSON responses, no sessions. Supported revisions:
/// 2025-06-18, 2025-11-25 (starting with `initialize`) and 2026-07-28 (`server/discover`, `_meta`, `Mcp-Method` and
/// `Mcp-Name`). The tools are `list_alerts`, `get_alert`, `list_alert_events`, `create_alert`, `update_alert`, `pause_alert`,
/// `resume_alert`, `delete_alert`, `list_watchlist`, `create_watchlist_item`, `delete_watchlist_item`; `tools/list` returns
/// those that the caller's scopes allow. The resources are `bellwether://guide/conditions`, `bellwether://events` and
/// `bellwether://stocks/{symbol}`, the prompts `set_up_alert` and `review_fired_alerts`. An agent authenticates with an API
/// key or an OAuth access token.
#[utoipa::path(
    post,
    path = "/mcp",
    tag = "MCP",
    request_body(content = McpRequest, description = "One JSON-RPC request; batches are not supported"),
    responses(
        (status = 200, description = "A result or a JSON-RPC error", body = McpResponse),
        (status = 202, description = "The notification was accepted"),
        (status = 400,
         description = "The body is not JSON, is a batch or is not a request, or the headers contradict the body",
         body = McpResponse),
        (status = 401, description = "Credentials are missing or invalid", body = McpResponse,
            headers(("WWW-Authenticate" = String, description = "URL of the OAuth metadata, and the available scopes"))),
        (status = 403, description = "`Host` or `Origin` is not allowed, or a scope is missing", body = McpResponse),
        (status = 404, description = "Unknown method (revision 2026-07-28)", body = McpResponse),
        (status = 406, description = "`Accept` does not include JSON", body = McpResponse),
        (status = 413, description = "The body is too large", body = McpResponse),
        (status = 415, description = "`Content-Type` is not JSON", body = McpResponse),
        (status = 429, description = "Too many requests, or too many invalid credentials", body = McpResponse),
        (status = 500, description = "Internal error", body = McpResponse),
        (status = 503, description = "The body did not arrive in time", body = McpResponse),
    ),
    security(("AgentToken" = []))
)]
pub(super) async fn call_mcp(
    State(app): State<App>,
    Extension(endpoint): Extension<Arc<McpEndpoint>>,
    ClientAddress(address): ClientAddress,
    request: Request,
) -> Response {
    mcp::respond(&app, &endpoint, address, request).await
}

async fn preflight(State(app): State<App>, headers: HeaderMap) -> Response {
    mcp::preflight(&app, &headers)
}
