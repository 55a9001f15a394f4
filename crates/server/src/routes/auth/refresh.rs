//! `POST /auth/refresh`

use axum::extract::State;
use utoipa::ToSchema;

use super::view::{Tokens, TokensReply};
use crate::answer::Envelope;
use crate::app::App;
use crate::auth::SessionCookie;
use crate::body::JsonObject;
use crate::error::ApiError;

/// What new tokens are asked for with.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
pub struct RefreshBody {
    /// The refresh token that came last.
    #[schema(min_length = 1, example = "6n1JmXb0Pj6Cq5vVw3d9qjVZ0m1m4Yh2m8oXl1y7C9A")]
    refresh_token: String,
}

/// Get new tokens
///
/// Each refresh token is good for one exchange. One that is shown again was stolen, or the one before was: the session ends
/// for whoever has it.
#[utoipa::path(
    post,
    path = "/auth/refresh",
    tag = "Identity",
    request_body(content = RefreshBody, description = "The refresh token that came last"),
    responses(
        (status = 200, description = "New tokens", body = Envelope<Tokens>),
        (status = 401, description = "The refresh token is not known, was used already, or its session is over"),
    ),
)]
pub(super) async fn refresh_tokens(
    State(app): State<App>,
    JsonObject(body): JsonObject,
) -> Result<TokensReply, ApiError> {
    let service = app.service();
    let signed_in = service.identity.refresh(&body).await?;
    Ok(TokensReply::of(&signed_in, SessionCookie::of(service)))
}
