//! `POST /auth/login`

use accounts::identity::SignInResult;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use super::view::{MessageResponse, Tokens, TokensResponse};
use crate::auth::SessionCookie;
use crate::body::JsonObject;
use crate::document::names::LoginTypeName;
use crate::error::ApiError;
use crate::layers::client::ClientAddress;
use crate::response::Envelope;
use crate::state::App;

/// Sign-in credentials.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
#[schema(as = LoginBody)]
pub struct LoginRequest {
    /// The account's email address.
    #[schema(format = "email", max_length = 254, example = "ann@example.com")]
    email: String,
    /// The password; required unless `type` is `magic_link`.
    #[schema(format = "password", min_length = 1)]
    password: Option<String>,
    /// Sign-in method: a password, or a link sent by email.
    #[schema(value_type = Option<LoginTypeName>)]
    r#type: Option<String>,
}

/// Result of a sign-in.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = LoginAnswer)]
pub enum LoginResponse {
    /// Signed in with a password: the tokens. A browser also gets a session cookie.
    SignedIn(Tokens),
    /// A sign-in link was sent, if the address has an account.
    Mailed(MessageResponse),
}

/// Sign in
///
/// Signs in with a password. With `type: "magic_link"`, mails a sign-in link instead (see `/auth/magic-link`). No response
/// reveals whether an address has an account. After repeated wrong passwords for an account from one client address, returns
/// 429 with `Retry-After`; signing in with a link still works.
#[utoipa::path(
    post,
    path = "/auth/login",
    tag = "Identity",
    request_body(content = LoginRequest, description = "Sign-in credentials"),
    responses(
        (status = 200, description = "Signed in, or a link was sent", body = Envelope<LoginResponse>,
         headers(("Set-Cookie" = String, description = "The session cookie, for browsers"))),
        (status = 401, description = "No account has this address and password, or the address is not confirmed"),
    ),
)]
pub(super) async fn login(
    State(app): State<App>,
    ClientAddress(address): ClientAddress,
    JsonObject(body): JsonObject,
) -> Result<Response, ApiError> {
    let service = app.service();
    Ok(match service.identity.sign_in(&body, address).await? {
        SignInResult::SignedIn(signed_in) => TokensResponse::of(&signed_in, SessionCookie::of(service)).into_response(),
        SignInResult::LinkSent => {
            MessageResponse::ok("if this address has an account, a sign-in link was sent to it").into_response()
        }
    })
}
