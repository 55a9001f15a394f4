//! `POST /auth/magic-link`

use accounts::identity::requests::LinkTokenRequest;

use super::view::{Tokens, tokens_response};
use crate::routes::prelude::*;

/// Sign in with an emailed link
///
/// Signs in with the token from the link that `/auth/login` mailed. The token is valid once and for 15 minutes. It also proves
/// ownership of the address: an unconfirmed address becomes confirmed, and a password set at registration becomes invalid.
#[utoipa::path(
    post,
    path = "/auth/magic-link",
    tag = "Identity",
    request_body(content = LinkTokenRequest, description = "The token from the link"),
    responses(
        (status = 200, description = "Signed in", body = Envelope<Tokens>,
         headers(("Set-Cookie" = String, description = "The session cookie, for browsers"))),
        (status = 400, description = "The link is unknown, already used or expired"),
    ),
)]
pub(super) async fn login_by_link(State(app): State<App>, JsonObject(body): JsonObject) -> Result<Response, ApiError> {
    let service = app.service();
    let signed_in = service.identity.sign_in_by_link(&body).await?;
    Ok(tokens_response(&signed_in, SessionCookie::of(service)))
}
