//! `DELETE /api-keys/{id}`

use crate::routes::prelude::*;

/// A deleted API key.
#[derive(Debug, Serialize, ToSchema)]
pub struct DeletedApiKey {
    /// Unique id.
    pub id: Uuid,
    /// Always `true`.
    pub deleted: bool,
}

/// Delete an API key
///
/// The key is refused immediately; other processes of this service may accept it for a few more seconds. Requires a session; API
/// keys are refused.
#[utoipa::path(
    delete,
    path = "/api-keys/{id}",
    tag = "API Keys",
    params(("id" = uuid::Uuid, Path, description = "API key id")),
    responses(
        (status = 200, description = "The key is deleted", body = Envelope<DeletedApiKey>),
        (status = 404, description = "API key not found"),
    ),
    security(("SessionCookie" = []))
)]
pub(super) async fn delete_api_key(
    State(app): State<App>,
    caller: AuthenticatedSession,
    ApiKeyPath(id): ApiKeyPath,
) -> Result<ApiResponse<DeletedApiKey>, ApiError> {
    app.service().accounts.delete_api_key(&caller.actor, id).await?;
    Ok(ApiResponse::ok(DeletedApiKey {
        id: id.0,
        deleted: true,
    }))
}
