//! `POST /auth/login`

use accounts::identity::SignInResult;
use accounts::identity::requests::LoginRequest;

use super::view::{MessageResponse, Tokens, tokens_response};
use crate::routes::prelude::*;

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
        SignInResult::SignedIn(signed_in) => tokens_response(&signed_in, SessionCookie::of(service)),
        SignInResult::LinkSent => {
            MessageResponse::ok("if this address has an account, a sign-in link was sent to it").into_response()
        }
    })
}
