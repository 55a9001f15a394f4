//! `POST /auth/refresh`

use accounts::identity::requests::RefreshTokenRequest;

use super::view::{Tokens, tokens_response};
use crate::routes::prelude::*;

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
pub(super) async fn refresh_tokens(State(app): State<App>, JsonObject(body): JsonObject) -> Result<Response, ApiError> {
    let service = app.service();
    let signed_in = service.identity.refresh(&body).await?;
    Ok(tokens_response(&signed_in, SessionCookie::of(service)))
}
