//! `POST /auth/reset-confirm`

use axum::extract::State;
use utoipa::ToSchema;

use super::view::MessageResponse;
use crate::body::JsonObject;
use crate::error::ApiError;
use crate::response::{ApiResponse, Envelope};
use crate::state::App;

/// A new password with the token from the reset link.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
#[schema(as = ConfirmReset)]
pub struct ConfirmPasswordResetRequest {
    /// The account's email address.
    #[schema(format = "email", max_length = 254, example = "ann@example.com")]
    email: String,
    /// The token from the link.
    #[schema(min_length = 1, example = "6n1JmXb0Pj6Cq5vVw3d9qjVZ0m1m4Yh2m8oXl1y7C9A")]
    token: String,
    /// The new password.
    #[schema(format = "password", min_length = 8, max_length = 200)]
    new_password: String,
}

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
