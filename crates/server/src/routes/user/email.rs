//! `PUT /user/account/email`, `POST /user/account/email/confirm`

use accounts::identity::requests::{ChangeEmailRequest, ConfirmEmailRequest};

use crate::routes::auth::view::MessageResponse;
use crate::routes::prelude::*;

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
