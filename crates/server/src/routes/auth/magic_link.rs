//! `POST /auth/magic-link`

use axum::extract::State;

use super::confirm::LinkToken;
use super::view::{Tokens, TokensReply};
use crate::answer::Envelope;
use crate::app::App;
use crate::auth::SessionCookie;
use crate::body::JsonObject;
use crate::error::ApiError;

/// Sign in by a mailed link
///
/// With the token of the link that `/auth/login` had mailed. It works once, for 15 minutes. It shows that the address is
/// theirs: if it was never confirmed, it is now, and the password that somebody registered with is good for nothing.
#[utoipa::path(
    post,
    path = "/auth/magic-link",
    tag = "Identity",
    request_body(content = LinkToken, description = "The token of the link"),
    responses(
        (status = 200, description = "Signed in", body = Envelope<Tokens>,
         headers(("Set-Cookie" = String, description = "The session, for browsers"))),
        (status = 400, description = "The link is not known, was used already, or its time is over"),
    ),
)]
pub(super) async fn login_by_link(
    State(app): State<App>,
    JsonObject(body): JsonObject,
) -> Result<TokensReply, ApiError> {
    let service = app.service();
    let signed_in = service.identity.sign_in_by_link(&body).await?;
    Ok(TokensReply::of(&signed_in, SessionCookie::of(service)))
}
