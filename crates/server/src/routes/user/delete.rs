//! `DELETE /user/account`

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header;
use serde::Serialize;
use utoipa::ToSchema;

use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::{SessionCookie, WithSession};
use crate::body::JsonObject;
use crate::document::names::ConfirmationName;
use crate::error::ApiError;

/// That it is meant.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
pub struct DeleteAccount {
    /// Must be `DELETE`.
    #[schema(value_type = ConfirmationName, example = "DELETE")]
    confirmation: String,
}

/// An account that is gone.
#[derive(Debug, Serialize, ToSchema)]
pub struct DeletedAccount {
    /// Always `true`.
    pub deleted: bool,
}

/// Delete the account
///
/// For good: alerts, webhooks, keys, sessions, feedback, and all that tells whose it was. The address can be registered again.
#[utoipa::path(
    delete,
    path = "/user/account",
    tag = "User",
    request_body(content = DeleteAccount, description = "That it is meant"),
    responses((status = 200, description = "The account is gone", body = Envelope<DeletedAccount>)),
    security(("SessionCookie" = []))
)]
pub(super) async fn delete_account(
    State(app): State<App>,
    who: WithSession,
    JsonObject(body): JsonObject,
) -> Result<Response, ApiError> {
    let service = app.service();
    service.account_settings.delete_account(&who.actor, &body).await?;
    let mut response = Reply::ok(DeletedAccount { deleted: true }).into_response();
    if let Some(cookie) = SessionCookie::of(service).clear() {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    Ok(response)
}
