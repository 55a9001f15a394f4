//! `POST /auth/reset-confirm`

use axum::extract::State;
use utoipa::ToSchema;

use super::view::Told;
use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::body::JsonObject;
use crate::error::ApiError;

/// A new password, and what allows it.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
pub struct ConfirmReset {
    /// The address of the account.
    #[schema(format = "email", max_length = 254, example = "ann@example.com")]
    email: String,
    /// The token, as the link has it.
    #[schema(min_length = 1, example = "6n1JmXb0Pj6Cq5vVw3d9qjVZ0m1m4Yh2m8oXl1y7C9A")]
    token: String,
    /// The new password.
    #[schema(format = "password", min_length = 8, max_length = 200)]
    new_password: String,
}

/// Choose a new password
///
/// With the token of the link that `/auth/request-reset` had mailed. It works once, for an hour. All sessions end.
#[utoipa::path(
    post,
    path = "/auth/reset-confirm",
    tag = "Identity",
    request_body(content = ConfirmReset, description = "The new password, and what allows it"),
    responses(
        (status = 200, description = "The password is set, and all sessions have ended", body = Envelope<Told>),
        (status = 400, description = "The link is not known, was used already, or its time is over"),
    ),
)]
pub(super) async fn confirm_password_reset(
    State(app): State<App>,
    JsonObject(body): JsonObject,
) -> Result<Reply<Told>, ApiError> {
    app.service().identity.confirm_reset(&body).await?;
    Ok(Told::ok(
        "the new password is set, and all sessions have ended; sign in now",
    ))
}
