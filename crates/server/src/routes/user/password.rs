//! `POST /user/account/password`

use accounts::identity::requests::ChangePasswordRequest;

use crate::routes::auth::view::MessageResponse;
use crate::routes::prelude::*;

/// Change the password
///
/// Ends all other sessions, invalidates links mailed earlier, and notifies the account's email address. API keys stay valid. A wrong
/// current password returns 422; too many of them return 429.
#[utoipa::path(
    post,
    path = "/user/account/password",
    tag = "User",
    request_body(content = ChangePasswordRequest, description = "The new and the current password"),
    responses(
        (status = 200, description = "The password is changed and all other sessions have ended", body = Envelope<MessageResponse>),
        (status = 409, description = "The password was changed concurrently, or a request with this Idempotency-Key is in progress"),
    ),
    security(("SessionCookie" = []))
)]
pub(super) async fn change_password(
    State(app): State<App>,
    caller: AuthenticatedSession,
    ClientAddress(address): ClientAddress,
    JsonObject(body): JsonObject,
) -> Result<ApiResponse<MessageResponse>, ApiError> {
    app.service()
        .account_settings
        .change_password(&caller.actor, address, &body)
        .await?;
    Ok(MessageResponse::ok(
        "the password is changed and all other sessions have ended",
    ))
}
