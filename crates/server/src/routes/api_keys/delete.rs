//! `DELETE /api-keys/{id}`

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::WithSession;
use crate::error::ApiError;
use crate::query::ApiKeyPath;

/// An API key that is gone.
#[derive(Debug, Serialize, ToSchema)]
pub struct DeletedApiKey {
    /// Which one.
    pub id: Uuid,
    /// Always `true`.
    pub deleted: bool,
}

/// Delete an API key
///
/// It is refused from now on; by another process of this service a few seconds later. API keys are refused here.
#[utoipa::path(
    delete,
    path = "/api-keys/{id}",
    tag = "API Keys",
    params(("id" = uuid::Uuid, Path, description = "The key's id")),
    responses(
        (status = 200, description = "The key is gone", body = Envelope<DeletedApiKey>),
        (status = 404, description = "No such key"),
    ),
    security(("SessionCookie" = []))
)]
pub(super) async fn delete_api_key(
    State(app): State<App>,
    who: WithSession,
    ApiKeyPath(id): ApiKeyPath,
) -> Result<Reply<DeletedApiKey>, ApiError> {
    app.service().accounts.delete_api_key(&who.actor, id).await?;
    Ok(Reply::ok(DeletedApiKey {
        id: id.0,
        deleted: true,
    }))
}
