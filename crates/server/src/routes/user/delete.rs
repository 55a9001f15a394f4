//! `DELETE /user/account`

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header;
use serde::Serialize;
use utoipa::ToSchema;

use crate::auth::{AuthenticatedSession, SessionCookie};
use crate::body::JsonObject;
use crate::document::names::ConfirmationName;
use crate::error::ApiError;
use crate::response::{ApiResponse, Envelope};
use crate::state::App;

/// Confirmation of the deletion.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
#[schema(as = DeleteAccount)]
pub struct DeleteAccountRequest {
    /// Must be `DELETE`.
    #[schema(value_type = ConfirmationName, example = "DELETE")]
    confirmation: String,
}

/// A deleted account.
#[derive(Debug, Serialize, ToSchema)]
pub struct DeletedAccount {
    /// Always `true`.
    pub deleted: bool,
}

/// Delete the account
///
/// Permanently deletes alerts, webhooks, API keys, sessions, feedback and all personal data. The email address can be registered
/// again.
#[utoipa::path(
    delete,
    path = "/user/account",
    tag = "User",
    request_body(content = DeleteAccountRequest, description = "Confirmation of the deletion"),
    responses((status = 200, description = "The account is deleted", body = Envelope<DeletedAccount>)),
    security(("SessionCookie" = []))
)]
pub(super) async fn delete_account(
    State(app): State<App>,
    caller: AuthenticatedSession,
    JsonObject(body): JsonObject,
) -> Result<Response, ApiError> {
    let service = app.service();
    service.account_settings.delete_account(&caller.actor, &body).await?;
    let mut response = ApiResponse::ok(DeletedAccount { deleted: true }).into_response();
    if let Some(cookie) = SessionCookie::of(service).clear() {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    Ok(response)
}
