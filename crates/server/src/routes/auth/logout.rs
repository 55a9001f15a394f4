//! `POST /auth/logout`

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header;

use super::view::Told;
use crate::answer::Envelope;
use crate::app::App;
use crate::auth::{SessionCookie, WithSession};
use crate::body::NoBody;
use crate::error::ApiError;

/// Sign out
///
/// Ends the session: its cookie, its access tokens and its refresh tokens. By another process of this service the access
/// token may be taken a few seconds longer.
#[utoipa::path(
    post,
    path = "/auth/logout",
    tag = "Identity",
    responses((status = 200, description = "The session has ended", body = Envelope<Told>)),
    security(("SessionCookie" = []))
)]
pub(super) async fn logout(State(app): State<App>, who: WithSession, _body: NoBody) -> Result<Response, ApiError> {
    let service = app.service();
    service.identity.sign_out(&who.actor).await?;
    let mut response = Told::ok("signed out").into_response();
    if let Some(cookie) = SessionCookie::of(service).clear() {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    Ok(response)
}
