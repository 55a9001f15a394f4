//! `POST /user/account/password`

use axum::extract::State;
use utoipa::ToSchema;

use crate::auth::AuthenticatedSession;
use crate::body::JsonObject;
use crate::error::ApiError;
use crate::layers::client::ClientAddress;
use crate::response::{ApiResponse, Envelope};
use crate::routes::auth::view::MessageResponse;
use crate::state::App;

/// The new and the current password.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
#[schema(as = ChangePassword)]
pub struct ChangePasswordRequest {
    /// Current password; required unless the account has none.
    #[schema(format = "password", min_length = 1)]
    current_password: Option<String>,
    /// New password.
    #[schema(format = "password", min_length = 8, max_length = 200)]
    new_password: String,
}

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
