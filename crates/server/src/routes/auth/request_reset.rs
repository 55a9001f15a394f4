//! `POST /auth/request-reset`

use axum::extract::State;
use utoipa::ToSchema;

use super::view::Told;
use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::body::JsonObject;
use crate::error::ApiError;

/// Who has forgotten the password.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
pub struct RequestReset {
    /// The address of the account.
    #[schema(format = "email", max_length = 254, example = "ann@example.com")]
    email: String,
}

/// Ask for a link to choose a new password
///
/// It is mailed to the address, if that has an account; the answer is the same either way.
#[utoipa::path(
    post,
    path = "/auth/request-reset",
    tag = "Identity",
    request_body(content = RequestReset, description = "The address of the account"),
    responses((status = 200, description = "A link is on its way, if the address has an account", body = Envelope<Told>)),
)]
pub(super) async fn request_password_reset(
    State(app): State<App>,
    JsonObject(body): JsonObject,
) -> Result<Reply<Told>, ApiError> {
    app.service().identity.request_reset(&body).await?;
    Ok(Told::ok(
        "if this address has an account, a link to choose a new password is on its way to it",
    ))
}
