//! `GET /.well-known/oauth-protected-resource`, and the same for `/mcp` (RFC 9728)

use axum::extract::State;
use axum::response::Response;
use serde::Serialize;
use service::oauth::SCOPES;
use utoipa::ToSchema;

use super::authorization_server::published;
use crate::app::App;

/// What tokens are for, and who gives them out.
#[derive(Debug, Serialize, ToSchema)]
pub struct ProtectedResource {
    /// The MCP endpoint: to be sent as `resource` when tokens are asked for.
    #[schema(example = "https://alerts.example.com/mcp")]
    pub resource: String,
    /// What the resource is called.
    #[schema(example = "Bellwether")]
    pub resource_name: &'static str,
    /// Where it is described.
    pub resource_documentation: String,
    /// Who gives out tokens for it.
    #[schema(example = json!(["https://alerts.example.com"]))]
    pub authorization_servers: Vec<String>,
    /// What tokens can be asked for.
    #[schema(example = json!(["alerts:read", "alerts:write", "watchlist:read", "watchlist:write"]))]
    pub scopes_supported: Vec<&'static str>,
    /// How tokens are shown.
    #[schema(example = json!(["header"]))]
    pub bearer_methods_supported: [&'static str; 1],
}

/// What the MCP endpoint takes
///
/// RFC 9728. Programs begin here.
#[utoipa::path(
    get,
    path = "/.well-known/oauth-protected-resource/mcp",
    tag = "OAuth",
    responses((status = 200, description = "The document", body = ProtectedResource)),
)]
pub(super) async fn protected_resource_of_mcp(State(app): State<App>) -> Response {
    let service = app.service();
    published(ProtectedResource {
        resource: service.oauth.mcp_resource(),
        resource_name: "Bellwether",
        resource_documentation: format!("{}/docs", service.identity.public_url()),
        authorization_servers: vec![service.identity.public_url().to_owned()],
        scopes_supported: SCOPES.iter().map(|scope| scope.name()).collect(),
        bearer_methods_supported: ["header"],
    })
}

/// What the MCP endpoint takes, again
///
/// The same document, for programs that do not look under the endpoint's own path.
#[utoipa::path(
    get,
    path = "/.well-known/oauth-protected-resource",
    tag = "OAuth",
    responses((status = 200, description = "The document", body = ProtectedResource)),
)]
pub(super) async fn protected_resource(app: State<App>) -> Response {
    protected_resource_of_mcp(app).await
}
