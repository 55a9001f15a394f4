//! `DELETE /webhooks/{id}`

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::{Allowed, WebhooksWrite};
use crate::error::ApiError;
use crate::query::WebhookPath;

/// A webhook that is gone.
#[derive(Debug, Serialize, ToSchema)]
pub struct DeletedWebhook {
    /// Which one.
    pub id: Uuid,
    /// Always `true`.
    pub deleted: bool,
}

/// Delete a webhook
///
/// For good, with its secrets. What still waits for it is given up.
#[utoipa::path(
    delete,
    path = "/webhooks/{id}",
    tag = "Webhooks",
    params(("id" = uuid::Uuid, Path, description = "The webhook's id")),
    responses(
        (status = 200, description = "The webhook is gone", body = Envelope<DeletedWebhook>),
        (status = 404, description = "No such webhook"),
    ),
    security(("ApiKeyHeader" = ["webhooks:write"]))
)]
pub(super) async fn delete_webhook(
    State(app): State<App>,
    who: Allowed<WebhooksWrite>,
    WebhookPath(id): WebhookPath,
) -> Result<Reply<DeletedWebhook>, ApiError> {
    app.service().webhooks.delete_webhook(&who.actor, id).await?;
    Ok(Reply::ok(DeletedWebhook {
        id: id.0,
        deleted: true,
    }))
}
