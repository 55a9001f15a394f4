//! `POST /oauth/revoke` (RFC 7009)

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde_json::json;
use utoipa::ToSchema;

use super::answer::{self, OAuthRefusal, ProgramsForm};
use crate::app::App;

/// What a program gives back.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the form; the service reads it")]
pub struct RevokeRequest {
    /// An access token, or a refresh token.
    #[schema(min_length = 1)]
    token: String,
    /// What it is; not needed.
    #[schema(nullable = false)]
    token_type_hint: Option<String>,
    /// What the program goes by. If it comes, the token has to be its own.
    #[schema(nullable = false)]
    client_id: Option<String>,
}

/// Give a token back
///
/// RFC 7009. With a refresh token all ends that was allowed with it, with an access token that one alone. A token that is not known
/// is answered in the same way.
#[utoipa::path(
    post,
    path = "/oauth/revoke",
    tag = "OAuth",
    request_body(content = RevokeRequest, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "The token is good for nothing", content_type = "application/json", body = Object),
        (status = 400, description = "`invalid_request`, or `invalid_grant` for another client's token", body = OAuthRefusal),
        (status = 401, description = "`invalid_client`: clients have no secrets", body = OAuthRefusal),
        (status = 429, description = "Too much was asked for from this address", body = OAuthRefusal),
    ),
    security(())
)]
pub(super) async fn revoke_token(State(app): State<App>, ProgramsForm(form): ProgramsForm) -> Response {
    match app.service().oauth.revoke_token(&form).await {
        Ok(()) => answer::answer(StatusCode::OK, json!({})),
        Err(error) => answer::refused(error),
    }
}
