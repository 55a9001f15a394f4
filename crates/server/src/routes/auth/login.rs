//! `POST /auth/login`

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use service::identity::SignIn;
use utoipa::ToSchema;

use super::view::{Tokens, TokensReply, Told};
use crate::answer::Envelope;
use crate::app::App;
use crate::auth::SessionCookie;
use crate::body::JsonObject;
use crate::document::names::LoginTypeName;
use crate::error::ApiError;
use crate::layers::client::ClientAddress;

/// Who signs in, and by what.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
pub struct LoginBody {
    /// The address of the account.
    #[schema(format = "email", max_length = 254, example = "ann@example.com")]
    email: String,
    /// The password; needed unless a link is asked for.
    #[schema(format = "password", min_length = 1)]
    password: Option<String>,
    /// By the password, or by a link that is mailed.
    #[schema(value_type = Option<LoginTypeName>)]
    r#type: Option<String>,
}

/// What comes of signing in.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum LoginAnswer {
    /// By a password: the tokens. A browser gets a cookie, too.
    SignedIn(Tokens),
    /// By a link: that it is on its way, if the address has an account.
    Mailed(Told),
}

/// Sign in
///
/// With a password, or, as `type: "magic_link"`, by a link that is mailed (see `/auth/magic-link`). Whether an address has
/// an account no answer says. Wrong passwords slow down whoever sends them: 429 with `Retry-After`, for this account from
/// this address; a link still signs in.
#[utoipa::path(
    post,
    path = "/auth/login",
    tag = "Identity",
    request_body(content = LoginBody, description = "Who signs in, and by what"),
    responses(
        (status = 200, description = "Signed in, or a link is on its way", body = Envelope<LoginAnswer>,
         headers(("Set-Cookie" = String, description = "The session, for browsers"))),
        (status = 401, description = "No account has this address and password, or the address is not confirmed yet"),
    ),
)]
pub(super) async fn login(
    State(app): State<App>,
    ClientAddress(address): ClientAddress,
    JsonObject(body): JsonObject,
) -> Result<Response, ApiError> {
    let service = app.service();
    Ok(match service.identity.sign_in(&body, address).await? {
        SignIn::Done(signed_in) => TokensReply::of(&signed_in, SessionCookie::of(service)).into_response(),
        SignIn::Mailed => {
            Told::ok("if this address has an account, a link to sign in is on its way to it").into_response()
        }
    })
}
