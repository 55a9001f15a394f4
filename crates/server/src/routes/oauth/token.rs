//! `POST /oauth/token` (RFC 6749, 7636, 8707)

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use super::answer::{self, OAuthRefusal, ProgramsForm};
use crate::app::App;

/// What a program exchanges.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the form; the service reads it")]
pub struct TokenRequest {
    /// `authorization_code` or `refresh_token`.
    #[schema(example = "authorization_code")]
    grant_type: String,
    /// What the program goes by.
    #[schema(min_length = 1)]
    client_id: String,
    /// With `authorization_code`: the code.
    #[schema(nullable = false)]
    code: Option<String>,
    /// With `authorization_code`: what the challenge was made of, 43 to 128 characters.
    #[schema(nullable = false, min_length = 43, max_length = 128)]
    code_verifier: Option<String>,
    /// With `authorization_code`: where the code was sent. OAuth 2.1 leaves it out; if it comes, it has to be right.
    #[schema(nullable = false)]
    redirect_uri: Option<String>,
    /// With `refresh_token`: the refresh token. It is good once.
    #[schema(nullable = false)]
    refresh_token: Option<String>,
    /// With `refresh_token`: less than what was allowed, if less is wanted for this access token.
    #[schema(nullable = false)]
    scope: Option<String>,
    /// The MCP endpoint; nothing else can be asked for.
    #[schema(nullable = false)]
    resource: Option<String>,
}

/// What a program gets.
#[derive(Serialize, ToSchema)]
#[schema(as = OAuthTokens)]
pub struct Tokens {
    /// To be shown to the MCP endpoint, as a bearer token. It is good for nothing else.
    #[schema(example = "mcp_at_8PnkR0fpBWSt7lyzXlTjM1mBO3DnbfIWDAJDP1PAQgI")]
    pub access_token: String,
    /// Always `Bearer`.
    #[schema(example = "Bearer")]
    pub token_type: &'static str,
    /// How long the access token is good for, in seconds.
    #[schema(example = 3600)]
    pub expires_in: i64,
    /// What to get the next tokens with. It is good once.
    #[schema(example = "mcp_rt_dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")]
    pub refresh_token: String,
    /// What the access token may be used for.
    #[schema(example = "alerts:read watchlist:read")]
    pub scope: String,
}

/// Exchange a code or a refresh token for tokens
///
/// A code, and a refresh token, is good once. Shown a second time, it ends all that came of it.
#[utoipa::path(
    post,
    path = "/oauth/token",
    tag = "OAuth",
    request_body(content = TokenRequest, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "The tokens", body = Tokens),
        (status = 400, description = "`invalid_request`, `invalid_grant`, `unsupported_grant_type`, `invalid_scope` or `invalid_target`",
         body = OAuthRefusal),
        (status = 401, description = "`invalid_client`: there is no such client; register it again", body = OAuthRefusal),
        (status = 429, description = "`temporarily_unavailable`: too much was asked for from this address, or one grant was renewed too \
         often; nothing was used up", body = OAuthRefusal),
    ),
    security(())
)]
pub(super) async fn token(State(app): State<App>, ProgramsForm(form): ProgramsForm) -> Response {
    match app.service().oauth.exchange_tokens(&form).await {
        Ok(issued) => {
            let scopes: Vec<_> = issued.scopes.iter().map(|scope| scope.name()).collect();
            let tokens = Tokens {
                access_token: issued.access_token,
                token_type: "Bearer",
                expires_in: issued.expires_in_s,
                refresh_token: issued.refresh_token,
                scope: scopes.join(" "),
            };
            answer::answer(StatusCode::OK, tokens)
        }
        Err(error) => answer::refused(error),
    }
}
