//! `POST /user/account/password`

use axum::extract::State;
use utoipa::ToSchema;

use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::WithSession;
use crate::body::JsonObject;
use crate::error::ApiError;
use crate::layers::client::ClientAddress;
use crate::routes::auth::view::Told;

/// The password that is wanted, and the one there is.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
pub struct ChangePassword {
    /// The password there is; needed unless the account has none yet.
    #[schema(format = "password", min_length = 1)]
    current_password: Option<String>,
    /// The password that is wanted.
    #[schema(format = "password", min_length = 8, max_length = 200)]
    new_password: String,
}

/// Change the password
///
/// All other sessions end, links that were mailed before are void, and the address is told. API keys go on. A wrong current
/// password is 422, and too many of them 429.
#[utoipa::path(
    post,
    path = "/user/account/password",
    tag = "User",
    request_body(content = ChangePassword, description = "The password that is wanted, and the one there is"),
    responses(
        (status = 200, description = "The password is changed, and all other sessions have ended", body = Envelope<Told>),
        (status = 409, description = "It was changed by somebody else at the same moment, or a request with this Idempotency-Key is being answered"),
    ),
    security(("SessionCookie" = []))
)]
pub(super) async fn change_password(
    State(app): State<App>,
    who: WithSession,
    ClientAddress(address): ClientAddress,
    JsonObject(body): JsonObject,
) -> Result<Reply<Told>, ApiError> {
    app.service()
        .account_settings
        .change_password(&who.actor, address, &body)
        .await?;
    Ok(Told::ok("the password is changed, and all other sessions have ended"))
}
