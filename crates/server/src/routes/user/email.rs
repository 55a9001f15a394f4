//! `PUT /user/account/email`, `POST /user/account/email/confirm`

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::WithSession;
use crate::body::JsonObject;
use crate::error::ApiError;
use crate::routes::auth::view::Told;

/// The address that is wanted.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
pub struct ChangeEmail {
    /// The new address.
    #[schema(format = "email", max_length = 254, example = "ann@example.org")]
    email: String,
}

/// The link that was mailed to a new address.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
pub struct ConfirmEmail {
    /// The token, as the link in the mail has it.
    #[schema(min_length = 1, example = "6n1JmXb0Pj6Cq5vVw3d9qjVZ0m1m4Yh2m8oXl1y7C9A")]
    token: String,
}

/// An address that is in force.
#[derive(Debug, Serialize, ToSchema)]
pub struct ConfirmedEmail {
    /// The account's address from now on.
    #[schema(format = "email", example = "ann@example.org")]
    pub email: String,
}

/// Ask for another address
///
/// A link is mailed to the new address, good once and for 24 hours. Until it is followed everything stays as it is; then the
/// old address is told. An address that has an account is mailed nothing, and no answer says so.
#[utoipa::path(
    put,
    path = "/user/account/email",
    tag = "User",
    request_body(content = ChangeEmail, description = "The address that is wanted"),
    responses((status = 200, description = "A link is on its way, unless the address has an account", body = Envelope<Told>)),
    security(("SessionCookie" = []))
)]
pub(super) async fn change_email(
    State(app): State<App>,
    who: WithSession,
    JsonObject(body): JsonObject,
) -> Result<Reply<Told>, ApiError> {
    app.service()
        .account_settings
        .request_address_change(&who.actor, &body)
        .await?;
    Ok(Told::ok(
        "a link is on its way to the new address, unless it has an account; follow it, and it is this account's address",
    ))
}

/// Confirm the other address
///
/// The link itself shows that the address is theirs, so nobody has to be signed in.
#[utoipa::path(
    post,
    path = "/user/account/email/confirm",
    tag = "User",
    request_body(content = ConfirmEmail, description = "The link"),
    responses(
        (status = 200, description = "The address is in force", body = Envelope<ConfirmedEmail>),
        (status = 400, description = "The link is not known, was used, is too old, or the address has an account by now"),
    ),
    security(())
)]
pub(super) async fn confirm_email(
    State(app): State<App>,
    JsonObject(body): JsonObject,
) -> Result<Reply<ConfirmedEmail>, ApiError> {
    let email = app.service().account_settings.confirm_address_change(&body).await?;
    Ok(Reply::ok(ConfirmedEmail { email }))
}
