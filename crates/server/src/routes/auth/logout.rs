//! `POST /auth/logout`

use super::view::MessageResponse;
use crate::routes::prelude::*;

/// Sign out
///
/// Ends the session with its cookie, access tokens and refresh tokens. Other processes of this service may accept the access
/// token for a few more seconds.
#[utoipa::path(
    post,
    path = "/auth/logout",
    tag = "Identity",
    responses((status = 200, description = "The session has ended", body = Envelope<MessageResponse>)),
    security(("SessionCookie" = []))
)]
pub(super) async fn logout(
    State(app): State<App>,
    caller: AuthenticatedSession,
    _body: IgnoredJsonBody,
) -> Result<Response, ApiError> {
    let service = app.service();
    service.identity.sign_out(&caller.actor).await?;
    let mut response = MessageResponse::ok("signed out").into_response();
    SessionCookie::of(service).clear(response.headers_mut());
    Ok(response)
}
