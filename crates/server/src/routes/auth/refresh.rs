//! `POST /auth/refresh`

use axum::extract::State;
use utoipa::ToSchema;

use super::view::{Tokens, TokensResponse};
use crate::auth::SessionCookie;
use crate::body::JsonObject;
use crate::error::ApiError;
use crate::response::Envelope;
use crate::state::App;

/// The refresh token to exchange.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
#[schema(as = RefreshBody)]
pub struct RefreshTokenRequest {
    /// The most recent refresh token.
    #[schema(min_length = 1, example = "6n1JmXb0Pj6Cq5vVw3d9qjVZ0m1m4Yh2m8oXl1y7C9A")]
    refresh_token: String,
}

/// Get new tokens
///
/// Each refresh token is valid for one exchange. Reusing one indicates theft, so the session ends for all holders.
#[utoipa::path(
    post,
    path = "/auth/refresh",
    tag = "Identity",
    request_body(content = RefreshTokenRequest, description = "The most recent refresh token"),
    responses(
        (status = 200, description = "New tokens", body = Envelope<Tokens>),
        (status = 401, description = "The refresh token is unknown or already used, or its session has ended"),
    ),
)]
pub(super) async fn refresh_tokens(
    State(app): State<App>,
    JsonObject(body): JsonObject,
) -> Result<TokensResponse, ApiError> {
    let service = app.service();
    let signed_in = service.identity.refresh(&body).await?;
    Ok(TokensResponse::of(&signed_in, SessionCookie::of(service)))
}
