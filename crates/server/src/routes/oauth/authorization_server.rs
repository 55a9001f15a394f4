//! `GET /.well-known/oauth-authorization-server` and `GET /.well-known/oauth-authorization-server/mcp` (RFC 8414)

use accounts::oauth::MCP_SCOPES;

use crate::routes::prelude::*;

/// Authorization server metadata (RFC 8414).
#[derive(Debug, Serialize, ToSchema)]
pub struct AuthorizationServer {
    /// Issuer. Every authorization response contains it as `iss`.
    #[schema(example = "https://alerts.example.com")]
    pub issuer: String,
    /// Authorization endpoint.
    #[schema(example = "https://alerts.example.com/oauth/authorize")]
    pub authorization_endpoint: String,
    /// Token endpoint.
    #[schema(example = "https://alerts.example.com/oauth/token")]
    pub token_endpoint: String,
    /// Client registration endpoint.
    #[schema(example = "https://alerts.example.com/oauth/register")]
    pub registration_endpoint: String,
    /// Token revocation endpoint.
    #[schema(example = "https://alerts.example.com/oauth/revoke")]
    pub revocation_endpoint: String,
    /// Supported scopes.
    pub scopes_supported: Vec<&'static str>,
    /// Supported response types: only `code`.
    #[schema(example = json!(["code"]))]
    pub response_types_supported: [&'static str; 1],
    /// Supported response modes: only `query`.
    #[schema(example = json!(["query"]))]
    pub response_modes_supported: [&'static str; 1],
    /// Supported grant types.
    #[schema(example = json!(["authorization_code", "refresh_token"]))]
    pub grant_types_supported: [&'static str; 2],
    /// Client authentication at the token endpoint: only public clients.
    #[schema(example = json!(["none"]))]
    pub token_endpoint_auth_methods_supported: [&'static str; 1],
    /// Client authentication at the revocation endpoint: only public clients.
    #[schema(example = json!(["none"]))]
    pub revocation_endpoint_auth_methods_supported: [&'static str; 1],
    /// Supported PKCE methods: only SHA-256.
    #[schema(example = json!(["S256"]))]
    pub code_challenge_methods_supported: [&'static str; 1],
    /// Whether authorization responses contain `iss` (RFC 9207).
    pub authorization_response_iss_parameter_supported: bool,
    /// Whether a client id may be the URL of a client metadata document.
    pub client_id_metadata_document_supported: bool,
    /// URL of the documentation.
    pub service_documentation: String,
}

/// Get the authorization server metadata
///
/// Authorization server metadata of RFC 8414.
#[utoipa::path(
    get,
    path = "/.well-known/oauth-authorization-server",
    tag = "OAuth",
    responses((status = 200, description = "The metadata document", body = AuthorizationServer)),
)]
pub(super) async fn authorization_server(State(app): State<App>) -> Response {
    let issuer = app.service().identity.public_url();
    let url = |path: &str| format!("{issuer}/{path}");
    cacheable_document(AuthorizationServer {
        issuer: issuer.to_owned(),
        authorization_endpoint: url("oauth/authorize"),
        token_endpoint: url("oauth/token"),
        registration_endpoint: url("oauth/register"),
        revocation_endpoint: url("oauth/revoke"),
        scopes_supported: MCP_SCOPES.iter().map(|scope| scope.name()).collect(),
        response_types_supported: ["code"],
        response_modes_supported: ["query"],
        grant_types_supported: ["authorization_code", "refresh_token"],
        token_endpoint_auth_methods_supported: ["none"],
        revocation_endpoint_auth_methods_supported: ["none"],
        code_challenge_methods_supported: ["S256"],
        authorization_response_iss_parameter_supported: true,
        client_id_metadata_document_supported: true,
        service_documentation: url("docs"),
    })
}

/// Get the authorization server metadata (MCP path)
///
/// The same document, for clients that append the MCP endpoint's path.
#[utoipa::path(
    get,
    path = "/.well-known/oauth-authorization-server/mcp",
    tag = "OAuth",
    responses((status = 200, description = "The metadata document", body = AuthorizationServer)),
)]
pub(super) async fn authorization_server_of_mcp(app: State<App>) -> Response {
    authorization_server(app).await
}

/// Creates a response with a public document that clients may cache for five minutes.
pub(super) fn cacheable_document(document: impl Serialize) -> Response {
    let mut response = axum::Json(document).into_response();
    let age = HeaderValue::from_static("public, max-age=300");
    response.headers_mut().insert(header::CACHE_CONTROL, age);
    response
}
