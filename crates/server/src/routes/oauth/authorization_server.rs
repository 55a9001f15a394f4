//! `GET /.well-known/oauth-authorization-server`, and the same for `/mcp` (RFC 8414)

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, header};
use serde::Serialize;
use service::oauth::SCOPES;
use utoipa::ToSchema;

use crate::app::App;

/// How tokens are to be had.
#[derive(Debug, Serialize, ToSchema)]
pub struct AuthorizationServer {
    /// Who gives them out. It comes as `iss` with every answer through a browser.
    #[schema(example = "https://alerts.example.com")]
    pub issuer: String,
    /// Where people are sent.
    #[schema(example = "https://alerts.example.com/oauth/authorize")]
    pub authorization_endpoint: String,
    /// Where codes and refresh tokens are exchanged.
    #[schema(example = "https://alerts.example.com/oauth/token")]
    pub token_endpoint: String,
    /// Where programs register.
    #[schema(example = "https://alerts.example.com/oauth/register")]
    pub registration_endpoint: String,
    /// Where they give tokens back.
    #[schema(example = "https://alerts.example.com/oauth/revoke")]
    pub revocation_endpoint: String,
    /// What can be asked for.
    pub scopes_supported: Vec<&'static str>,
    /// Codes only.
    #[schema(example = json!(["code"]))]
    pub response_types_supported: [&'static str; 1],
    /// In the query only.
    #[schema(example = json!(["query"]))]
    pub response_modes_supported: [&'static str; 1],
    /// What is exchanged for tokens.
    #[schema(example = json!(["authorization_code", "refresh_token"]))]
    pub grant_types_supported: [&'static str; 2],
    /// Programs have no secrets.
    #[schema(example = json!(["none"]))]
    pub token_endpoint_auth_methods_supported: [&'static str; 1],
    /// Nor for giving tokens back.
    #[schema(example = json!(["none"]))]
    pub revocation_endpoint_auth_methods_supported: [&'static str; 1],
    /// PKCE, by SHA-256 only.
    #[schema(example = json!(["S256"]))]
    pub code_challenge_methods_supported: [&'static str; 1],
    /// RFC 9207.
    pub authorization_response_iss_parameter_supported: bool,
    /// Programs may go by the URL of a document about them.
    pub client_id_metadata_document_supported: bool,
    /// Where all this is described.
    pub service_documentation: String,
}

/// How tokens are to be had
///
/// RFC 8414.
#[utoipa::path(
    get,
    path = "/.well-known/oauth-authorization-server",
    tag = "OAuth",
    responses((status = 200, description = "The document", body = AuthorizationServer)),
)]
pub(super) async fn authorization_server(State(app): State<App>) -> Response {
    let issuer = app.service().identity.public_url();
    let under = |path: &str| format!("{issuer}/{path}");
    published(AuthorizationServer {
        issuer: issuer.to_owned(),
        authorization_endpoint: under("oauth/authorize"),
        token_endpoint: under("oauth/token"),
        registration_endpoint: under("oauth/register"),
        revocation_endpoint: under("oauth/revoke"),
        scopes_supported: SCOPES.iter().map(|scope| scope.name()).collect(),
        response_types_supported: ["code"],
        response_modes_supported: ["query"],
        grant_types_supported: ["authorization_code", "refresh_token"],
        token_endpoint_auth_methods_supported: ["none"],
        revocation_endpoint_auth_methods_supported: ["none"],
        code_challenge_methods_supported: ["S256"],
        authorization_response_iss_parameter_supported: true,
        client_id_metadata_document_supported: true,
        service_documentation: under("docs"),
    })
}

/// How tokens are to be had, again
///
/// The same document, for programs that look under the endpoint's own path.
#[utoipa::path(
    get,
    path = "/.well-known/oauth-authorization-server/mcp",
    tag = "OAuth",
    responses((status = 200, description = "The document", body = AuthorizationServer)),
)]
pub(super) async fn authorization_server_of_mcp(app: State<App>) -> Response {
    authorization_server(app).await
}

/// A document for everybody, which changes only with the program or its settings.
pub(super) fn published(document: impl Serialize) -> Response {
    let mut response = axum::Json(document).into_response();
    let age = HeaderValue::from_static("public, max-age=300");
    response.headers_mut().insert(header::CACHE_CONTROL, age);
    response
}
