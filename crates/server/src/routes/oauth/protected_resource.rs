//! `GET /.well-known/oauth-protected-resource` and `GET /.well-known/oauth-protected-resource/mcp` (RFC 9728)

use accounts::oauth::MCP_SCOPES;

use super::authorization_server::cacheable_document;
use crate::routes::prelude::*;

/// Protected resource metadata (RFC 9728).
#[derive(Debug, Serialize, ToSchema)]
pub struct ProtectedResource {
    /// URL of the MCP endpoint; the value of `resource` in token requests.
    #[schema(example = "https://alerts.example.com/mcp")]
    pub resource: String,
    /// Name of the resource.
    #[schema(example = "Bellwether")]
    pub resource_name: &'static str,
    /// URL of the documentation.
    pub resource_documentation: String,
    /// Authorization servers that issue tokens for the resource.
    #[schema(example = json!(["https://alerts.example.com"]))]
    pub authorization_servers: Vec<String>,
    /// Supported scopes.
    #[schema(example = json!(["alerts:read", "alerts:write", "watchlist:read", "watchlist:write"]))]
    pub scopes_supported: Vec<&'static str>,
    /// Supported ways to send a bearer token.
    #[schema(example = json!(["header"]))]
    pub bearer_methods_supported: [&'static str; 1],
}

/// Get the MCP endpoint's resource metadata
///
/// Protected resource metadata of RFC 9728. Clients start OAuth discovery here.
#[utoipa::path(
    get,
    path = "/.well-known/oauth-protected-resource/mcp",
    tag = "OAuth",
    responses((status = 200, description = "The metadata document", body = ProtectedResource)),
)]
pub(super) async fn protected_resource_of_mcp(State(app): State<App>) -> Response {
    let service = app.service();
    cacheable_document(ProtectedResource {
        resource: service.oauth.mcp_resource(),
        resource_name: "Bellwether",
        resource_documentation: format!("{}/docs", service.identity.public_url()),
        authorization_servers: vec![service.identity.public_url().to_owned()],
        scopes_supported: MCP_SCOPES.iter().map(|scope| scope.name()).collect(),
        bearer_methods_supported: ["header"],
    })
}

/// Get the MCP endpoint's resource metadata (root path)
///
/// The same document, for clients that do not append the MCP endpoint's path.
#[utoipa::path(
    get,
    path = "/.well-known/oauth-protected-resource",
    tag = "OAuth",
    responses((status = 200, description = "The metadata document", body = ProtectedResource)),
)]
pub(super) async fn protected_resource(app: State<App>) -> Response {
    protected_resource_of_mcp(app).await
}
