//! `PUT /user/account/email`, `POST /user/account/email/confirm`

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::auth::AuthenticatedSession;
use crate::body::JsonObject;
use crate::error::ApiError;
use crate::response::{ApiResponse, Envelope};
use crate::routes::auth::view::MessageResponse;
use crate::state::App;

/// A request for a new email address.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
#[schema(as = ChangeEmail)]
pub struct ChangeEmailRequest {
    /// New email address.
    #[schema(format = "email", max_length = 254, example = "ann@example.org")]
    email: String,
}

/// The token of the link sent to the new address.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
#[schema(as = ConfirmEmail)]
pub struct ConfirmEmailRequest {
    /// The token from the link in the email.
    #[schema(min_length = 1, example = "6n1JmXb0Pj6Cq5vVw3d9qjVZ0m1m4Yh2m8oXl1y7C9A")]
    token: String,
}

/// The confirmed email address.
#[derive(Debug, Serialize, ToSchema)]
pub struct ConfirmedEmail {
    /// The account's new email address.
    #[schema(format = "email", example = "ann@example.org")]
    pub email: String,
}

/// Request a new email address
///
/// Mails a link to the new address, valid once and for 24 hours. The address changes only when the link is opened; then the old
/// address is notified. If the new address already has an account, nothing is mailed and the response is the same.
#[utoipa::path(
    put,
    path = "/user/account/email",
    tag = "User",
    request_body(content = ChangeEmailRequest, description = "The new email address"),
    responses((status = 200, description = "A link was sent, unless the address already has an account", body = Envelope<MessageResponse>)),
    security(("SessionCookie" = []))
)]
pub(super) async fn change_email(
    State(app): State<App>,
    caller: AuthenticatedSession,
    JsonObject(body): JsonObject,
) -> Result<ApiResponse<MessageResponse>, ApiError> {
    app.service()
        .account_settings
        .request_address_change(&caller.actor, &body)
        .await?;
    Ok(MessageResponse::ok(
        "a link was sent to the new address, unless it already has an account; open the link to change the address",
    ))
}

/// Confirm a new email address
///
/// The token proves ownership of the address, so no session is required.
#[utoipa::path(
    post,
    path = "/user/account/email/confirm",
    tag = "User",
    request_body(content = ConfirmEmailRequest, description = "The token from the link"),
    responses(
        (status = 200, description = "The address is changed", body = Envelope<ConfirmedEmail>),
        (status = 400, description = "The link is unknown, already used or expired, or the address now has another account"),
    ),
    security(())
)]
pub(super) async fn confirm_email(
    State(app): State<App>,
    JsonObject(body): JsonObject,
) -> Result<ApiResponse<ConfirmedEmail>, ApiError> {
    let email = app.service().account_settings.confirm_address_change(&body).await?;
    Ok(ApiResponse::ok(ConfirmedEmail { email }))
}
