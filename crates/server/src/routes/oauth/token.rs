//! `POST /oauth/token` (RFC 6749, 7636, 8707)

use super::response::{self, OAuthErrorResponse, OAuthForm};
use crate::routes::prelude::*;

/// A token request.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the form; the service reads it")]
pub struct TokenRequest {
    /// `authorization_code` or `refresh_token`.
    #[schema(example = "authorization_code")]
    grant_type: String,
    /// Client id.
    #[schema(min_length = 1)]
    client_id: String,
    /// For `authorization_code`: the code.
    #[schema(nullable = false)]
    code: Option<String>,
    /// For `authorization_code`: the PKCE code verifier, 43 to 128 characters.
    #[schema(nullable = false, min_length = 43, max_length = 128)]
    code_verifier: Option<String>,
    /// For `authorization_code`: the redirect URI of the request. Optional, as in OAuth 2.1; if sent, it must match.
    #[schema(nullable = false)]
    redirect_uri: Option<String>,
    /// For `refresh_token`: the refresh token, valid once.
    #[schema(nullable = false)]
    refresh_token: Option<String>,
    /// For `refresh_token`: a subset of the granted scopes for the new access token.
    #[schema(nullable = false)]
    scope: Option<String>,
    /// The resource; only the MCP endpoint is supported.
    #[schema(nullable = false)]
    resource: Option<String>,
}

/// Tokens issued to a client.
#[derive(Serialize, ToSchema)]
pub struct OAuthTokens {
    /// Access token for the MCP endpoint, sent as a bearer token. It is not valid elsewhere.
    #[schema(example = "mcp_at_8PnkR0fpBWSt7lyzXlTjM1mBO3DnbfIWDAJDP1PAQgI")]
    pub access_token: String,
    /// Always `Bearer`.
    #[schema(example = "Bearer")]
    pub token_type: &'static str,
    /// Lifetime of the access token, in seconds.
    #[schema(example = 3600)]
    pub expires_in: i64,
    /// Refresh token for the next tokens, valid once.
    #[schema(example = "mcp_rt_dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")]
    pub refresh_token: String,
    /// Scopes of the access token.
    #[schema(example = "alerts:read watchlist:read")]
    pub scope: String,
}

/// Exchange a code or a refresh token for tokens
///
/// A code or refresh token is valid once. Using it a second time revokes all tokens issued from it.
#[utoipa::path(
    post,
    path = "/oauth/token",
    tag = "OAuth",
    request_body(content = TokenRequest, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "The tokens", body = OAuthTokens),
        (status = 400, description = "`invalid_request`, `invalid_grant`, `unsupported_grant_type`, `invalid_scope` or `invalid_target`",
         body = OAuthErrorResponse),
        (status = 401, description = "`invalid_client`: the client is unknown; register it again", body = OAuthErrorResponse),
        (status = 429, description = "`temporarily_unavailable`: too many requests from this address, or the grant was renewed too \
         often; the code or token stays valid", body = OAuthErrorResponse),
    ),
    security(())
)]
pub(super) async fn token(State(app): State<App>, OAuthForm(form): OAuthForm) -> Response {
    match app.service().oauth.exchange_tokens(&form).await {
        Ok(issued) => {
            let scopes: Vec<_> = issued.scopes.iter().map(|scope| scope.name()).collect();
            let tokens = OAuthTokens {
                access_token: issued.access_token,
                token_type: "Bearer",
                expires_in: issued.expires_in_s,
                refresh_token: issued.refresh_token,
                scope: scopes.join(" "),
            };
            response::json_no_store(StatusCode::OK, tokens)
        }
        Err(error) => response::error_response(error),
    }
}
