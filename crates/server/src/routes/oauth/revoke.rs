//! `POST /oauth/revoke` (RFC 7009)

use serde_json::json;

use super::response::{self, OAuthErrorResponse, OAuthForm};
use crate::routes::prelude::*;

/// A token revocation request.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the form; the service reads it")]
pub struct RevokeRequest {
    /// Access token or refresh token.
    #[schema(min_length = 1)]
    token: String,
    /// Type of the token; optional.
    #[schema(nullable = false)]
    token_type_hint: Option<String>,
    /// Client id. If sent, the token must belong to this client.
    #[schema(nullable = false)]
    client_id: Option<String>,
}

/// Revoke a token
///
/// Token revocation of RFC 7009. Revoking a refresh token ends its whole grant; revoking an access token ends only that token. An
/// unknown token gets the same response.
#[utoipa::path(
    post,
    path = "/oauth/revoke",
    tag = "OAuth",
    request_body(content = RevokeRequest, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "The token is invalid", content_type = "application/json", body = Object),
        (status = 400, description = "`invalid_request`, or `invalid_grant` for another client's token", body = OAuthErrorResponse),
        (status = 401, description = "`invalid_client`: only public clients are supported", body = OAuthErrorResponse),
        (status = 429, description = "Too many requests from this address", body = OAuthErrorResponse),
    ),
    security(())
)]
pub(super) async fn revoke_token(State(app): State<App>, OAuthForm(form): OAuthForm) -> Response {
    match app.service().oauth.revoke_token(&form).await {
        Ok(()) => response::json_no_store(StatusCode::OK, json!({})),
        Err(error) => response::error_response(error),
    }
}
