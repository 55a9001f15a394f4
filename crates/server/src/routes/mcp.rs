//! `POST /mcp`

use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::options;
use http::HeaderMap;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::layers::client::ClientAddress;
use crate::mcp;

pub(crate) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(call_mcp))
        .route("/mcp", options(preflight))
}

/// A JSON-RPC request, or a notification, which has no id.
#[derive(Debug, Serialize, ToSchema)]
pub struct McpRequest {
    /// Always `2.0`.
    #[schema(pattern = r"^2\.0$", example = "2.0")]
    pub jsonrpc: String,
    /// A string or a whole number, which the answer bears.
    #[schema(value_type = Option<i64>, nullable = false, example = 1)]
    pub id: Option<i64>,
    /// The method: `initialize`, `server/discover`, `ping`, `tools/list`, `tools/call`, `resources/list`,
    /// `resources/templates/list`, `resources/read`, `prompts/list`, `prompts/get`.
    #[schema(example = "tools/list")]
    pub method: String,
    /// What it is asked with.
    #[schema(value_type = Option<Object>, nullable = false)]
    pub params: Option<Map<String, Value>>,
}

/// What JSON-RPC answers: a `result` or an `error`.
#[derive(Debug, Serialize, ToSchema)]
pub struct McpAnswer {
    /// Always `2.0`.
    #[schema(example = "2.0")]
    pub jsonrpc: String,
    /// The request's; null if it had none that could be read.
    pub id: Value,
    /// What was asked for.
    #[schema(value_type = Option<Object>, nullable = false)]
    pub result: Option<Map<String, Value>>,
    /// What went wrong.
    #[schema(nullable = false)]
    pub error: Option<McpError>,
}

/// What went wrong.
#[derive(Debug, Serialize, ToSchema)]
pub struct McpError {
    /// As JSON-RPC numbers them.
    #[schema(example = -32602)]
    pub code: i32,
    /// What it was, and what to do.
    pub message: String,
    /// More about it.
    #[schema(value_type = Option<Object>, nullable = false)]
    pub data: Option<Map<String, Value>>,
}

/// Call a tool as an agent
///
/// The Model Context Protocol over HTTP: one JSON-RPC request in each POST, JSON answers, no sessions. It speaks the
/// revisions 2025-06-18, 2025-11-25 (`initialize` first) and 2026-07-28 (`server/discover`, `_meta`, `Mcp-Method` and
/// `Mcp-Name`). The tools are `list_alerts`, `get_alert`, `list_alert_events`, `create_alert`, `update_alert`, `pause_alert`,
/// `resume_alert`, `delete_alert`, `list_watchlist`, `create_watchlist_item`, `delete_watchlist_item`; `tools/list` describes
/// those that the caller has the scope for. The resources are `bellwether://guide/conditions`, `bellwether://events` and
/// `bellwether://stocks/{symbol}`, the prompts `set_up_alert` and `review_fired_alerts`. An agent authenticates with an API
/// key or an OAuth access token.
#[utoipa::path(
    post,
    path = "/mcp",
    tag = "MCP",
    request_body(content = McpRequest, description = "One request; no batches"),
    responses(
        (status = 200, description = "A result, or an error of the protocol", body = McpAnswer),
        (status = 202, description = "A notification was taken"),
        (status = 400, description = "No JSON, a batch, no request; or headers that contradict the body", body = McpAnswer),
        (status = 401, description = "Nothing shows who asks, or what is shown is not known", body = McpAnswer,
            headers(("WWW-Authenticate" = String, description = "Where OAuth begins, and which scopes there are"))),
        (status = 403, description = "A strange `Host` or `Origin`; or a scope is missing", body = McpAnswer),
        (status = 404, description = "There is no such method (revision 2026-07-28)", body = McpAnswer),
        (status = 406, description = "`Accept` takes no JSON", body = McpAnswer),
        (status = 413, description = "The body is too large", body = McpAnswer),
        (status = 415, description = "The body is no JSON by its own word", body = McpAnswer),
        (status = 429, description = "Too much was asked, or too much that is not known was shown", body = McpAnswer),
        (status = 500, description = "A fault of this program", body = McpAnswer),
        (status = 503, description = "The body did not arrive in time", body = McpAnswer),
    ),
    security(("AgentToken" = []))
)]
pub(super) async fn call_mcp(
    State(app): State<App>,
    ClientAddress(address): ClientAddress,
    request: Request,
) -> Response {
    mcp::answer(&app, address, request).await
}

async fn preflight(State(app): State<App>, headers: HeaderMap) -> Response {
    mcp::preflight(&app, &headers)
}
