//! `POST /auth/reset-confirm`

use accounts::identity::requests::ConfirmPasswordResetRequest;

use super::view::MessageResponse;
use crate::routes::prelude::*;

/// Set a new password
///
/// Sets a new password with the token from the link that `/auth/request-reset` mailed. The token is valid once and for one hour.
/// All sessions end.
#[utoipa::path(
    post,
    path = "/auth/reset-confirm",
    tag = "Identity",
    request_body(content = ConfirmPasswordResetRequest, description = "The new password and the token from the link"),
    responses(
        (status = 200, description = "The password is set, and all sessions have ended", body = Envelope<MessageResponse>),
        (status = 400, description = "The link is unknown, already used or expired"),
    ),
)]
pub(super) async fn confirm_password_reset(
    State(app): State<App>,
    JsonObject(body): JsonObject,
) -> Result<ApiResponse<MessageResponse>, ApiError> {
    app.service().identity.confirm_reset(&body).await?;
    Ok(MessageResponse::ok(
        "the new password is set and all sessions have ended; sign in again",
    ))
}
