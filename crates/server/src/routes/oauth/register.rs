//! `POST /oauth/register` (RFC 7591)

use accounts::oauth::{MCP_SCOPES, OAuthErrorCode};
use axum::extract::{FromRequest, Request};
use serde_json::Value;

use super::response::{self, OAuthErrorResponse};
use crate::rate_limiter::RateLimitGroup;
use crate::routes::prelude::*;

/// Client metadata. Other fields are ignored.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
#[schema(as = RegisterClient)]
pub struct RegisterClientRequest {
    /// Redirect URIs, 1 to 10: `https`, `http` on `127.0.0.1`, `[::1]` or `localhost` (any port), or a private-use scheme that
    /// contains a dot.
    #[schema(min_items = 1, max_items = 10, example = json!(["http://127.0.0.1/callback"]))]
    redirect_uris: Vec<String>,
    /// Client name, at most 100 characters.
    #[schema(example = "My agent")]
    client_name: Option<String>,
}

/// A registered client.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RegisteredClient)]
pub struct RegisteredClientResponse {
    /// Client id. It is not secret.
    #[schema(example = "0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11")]
    pub client_id: String,
    /// Time of the registration, in seconds since the Unix epoch.
    pub client_id_issued_at: i64,
    /// Client name.
    #[schema(example = "My agent")]
    pub client_name: String,
    /// Redirect URIs.
    #[schema(example = json!(["http://127.0.0.1/callback"]))]
    pub redirect_uris: Vec<String>,
    /// Grant types.
    pub grant_types: [&'static str; 2],
    /// Response types.
    pub response_types: [&'static str; 1],
    /// Always `none`: only public clients are supported.
    #[schema(example = "none")]
    pub token_endpoint_auth_method: &'static str,
    /// Scopes that the client may request.
    pub scope: String,
}

/// Register a client
///
/// Dynamic client registration of RFC 7591, without authentication. Clients that receive no grant are deleted after a week;
/// clients that are no longer used are deleted as well. The token endpoint then returns `invalid_client`. Only public clients are
/// supported.
#[utoipa::path(
    post,
    path = "/oauth/register",
    tag = "OAuth",
    request_body = RegisterClientRequest,
    responses(
        (status = 201, description = "The client is registered", body = RegisteredClientResponse),
        (status = 400, description = "`invalid_redirect_uri` or `invalid_client_metadata`", body = OAuthErrorResponse),
        (status = 429, description = "Too many registrations from this address", body = OAuthErrorResponse),
        (status = 503, description = "The maximum number of clients is reached", body = OAuthErrorResponse),
    ),
    security(())
)]
pub(super) async fn register_client(State(app): State<App>, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    if let Err(refusal) = response::check_rate_limit(&mut parts, &app, RateLimitGroup::Clients).await {
        return refusal;
    }
    let request = Request::from_parts(parts, body);
    let body: Value = match JsonObject::from_request(request, &app).await {
        Ok(JsonObject(body)) => body,
        Err(error) => return response::body_error_response(&error, OAuthErrorCode::InvalidClientMetadata),
    };
    match app.service().oauth.register_client(&body).await {
        Ok(client) => {
            let scopes: Vec<_> = MCP_SCOPES.iter().map(|scope| scope.name()).collect();
            let registered = RegisteredClientResponse {
                client_id: client.id.0.to_string(),
                client_id_issued_at: client.created_at.as_second(),
                client_name: client.name,
                redirect_uris: client.redirect_uris,
                grant_types: ["authorization_code", "refresh_token"],
                response_types: ["code"],
                token_endpoint_auth_method: "none",
                scope: scopes.join(" "),
            };
            response::json_no_store(StatusCode::CREATED, registered)
        }
        Err(error) => response::error_response(error),
    }
}
