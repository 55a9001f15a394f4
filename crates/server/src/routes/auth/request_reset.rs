//! `POST /auth/request-reset`

use accounts::identity::requests::PasswordResetRequest;

use super::view::MessageResponse;
use crate::routes::prelude::*;

/// Request a password reset
///
/// Mails a reset link to the address if it has an account. The response is the same in both cases.
#[utoipa::path(
    post,
    path = "/auth/request-reset",
    tag = "Identity",
    request_body(content = PasswordResetRequest, description = "The account's email address"),
    responses((status = 200, description = "A link was sent, if the address has an account", body = Envelope<MessageResponse>)),
)]
pub(super) async fn request_password_reset(
    State(app): State<App>,
    JsonObject(body): JsonObject,
) -> Result<ApiResponse<MessageResponse>, ApiError> {
    app.service().identity.request_reset(&body).await?;
    Ok(MessageResponse::ok(
        "if this address has an account, a link to choose a new password was sent to it",
    ))
}
