//! `POST /auth/confirm`

use axum::extract::State;
use utoipa::ToSchema;

use super::view::Told;
use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::body::JsonObject;
use crate::error::ApiError;

/// The token of a mailed link.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
pub struct LinkToken {
    /// The token, as the link has it.
    #[schema(min_length = 1, example = "6n1JmXb0Pj6Cq5vVw3d9qjVZ0m1m4Yh2m8oXl1y7C9A")]
    token: String,
}

/// Confirm the address of an account
///
/// With the token of the link that registering had mailed. It works once, for 48 hours. If more than one has registered with the
/// address, none of their passwords counts: sign in by a link, or choose a password by one (`/auth/request-reset`).
#[utoipa::path(
    post,
    path = "/auth/confirm",
    tag = "Identity",
    request_body(content = LinkToken, description = "The token of the link"),
    responses(
        (status = 200, description = "The address is confirmed", body = Envelope<Told>),
        (status = 400, description = "The link is not known, was used already, or its time is over"),
    ),
)]
pub(super) async fn confirm_address(
    State(app): State<App>,
    JsonObject(body): JsonObject,
) -> Result<Reply<Told>, ApiError> {
    let has_password = app.service().identity.confirm_address(&body).await?;
    Ok(Told::ok(if has_password {
        "the address is confirmed; sign in now"
    } else {
        "the address is confirmed; more than one has registered with it, so no password counts: sign in by a link (type \
         magic_link), or choose a password by one (POST /auth/request-reset)"
    }))
}
