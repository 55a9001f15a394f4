//! `DELETE /user/account`

use accounts::identity::requests::DeleteAccountRequest;

use crate::routes::prelude::*;

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
    SessionCookie::of(service).clear(response.headers_mut());
    Ok(response)
}
