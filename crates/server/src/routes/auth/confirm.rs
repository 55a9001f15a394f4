//! `POST /auth/confirm`

use accounts::identity::requests::LinkTokenRequest;

use super::view::MessageResponse;
use crate::routes::prelude::*;

/// Confirm an account's email address
///
/// Confirms the address with the token from the registration email. The token is valid once and for 48 hours. If several people
/// registered with this address, none of their passwords is valid: sign in with a link, or set a password with
/// `/auth/request-reset`.
#[utoipa::path(
    post,
    path = "/auth/confirm",
    tag = "Identity",
    request_body(content = LinkTokenRequest, description = "The token from the link"),
    responses(
        (status = 200, description = "The address is confirmed", body = Envelope<MessageResponse>),
        (status = 400, description = "The link is unknown, already used or expired"),
    ),
)]
pub(super) async fn confirm_address(
    State(app): State<App>,
    JsonObject(body): JsonObject,
) -> Result<ApiResponse<MessageResponse>, ApiError> {
    let has_password = app.service().identity.confirm_address(&body).await?;
    Ok(MessageResponse::ok(if has_password {
        "the address is confirmed; you can sign in now"
    } else {
        "the address is confirmed, but several people registered with it, so no password is valid; sign in with a link (type \
         magic_link) or set a password with POST /auth/request-reset"
    }))
}
