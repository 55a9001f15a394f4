//! `POST /auth/register`

use axum::extract::State;
use http::StatusCode;
use utoipa::ToSchema;

use super::view::Told;
use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::body::JsonObject;
use crate::error::ApiError;

/// Who registers.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
pub struct RegisterBody {
    /// The address.
    #[schema(format = "email", max_length = 254, example = "ann@example.com")]
    email: String,
    /// The password.
    #[schema(format = "password", min_length = 8, max_length = 200)]
    password: String,
    /// What they are called.
    #[schema(
        min_length = 1,
        max_length = 100,
        pattern = r"^[^\u0000-\u001f\u007f-\u009f]*$",
        example = "Ann Example"
    )]
    full_name: Option<String>,
}

/// Register
///
/// What comes of it is mailed to the address: a link to confirm it, or, if it has an account already, where to sign in. The
/// answer is the same either way.
#[utoipa::path(
    post,
    path = "/auth/register",
    tag = "Identity",
    request_body(content = RegisterBody, description = "Who registers"),
    responses(
        (status = 201, description = "Taken; `message` says whether a mail is on its way or kept in the outbox", body = Envelope<Told>),
        (status = 403, description = "Only the operator makes accounts here; `details.reason` is `registration_closed`"),
    ),
)]
pub(super) async fn register(State(app): State<App>, JsonObject(body): JsonObject) -> Result<Reply<Told>, ApiError> {
    app.service().identity.register(&body).await?;
    let message = if app.service().identity.sends_mail() {
        "a mail is on its way to this address; open the link in it"
    } else {
        "this service sends no mail; the link for this address is in its outbox, which its operator reads (GET /outbox)"
    };
    Ok(Reply::with(StatusCode::CREATED, Told { message }))
}
