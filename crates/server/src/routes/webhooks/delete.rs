//! `DELETE /webhooks/{id}`

use crate::routes::prelude::*;

/// A deleted webhook.
#[derive(Debug, Serialize, ToSchema)]
pub struct DeletedWebhook {
    /// Unique id.
    pub id: Uuid,
    /// Always `true`.
    pub deleted: bool,
}

/// Delete a webhook
///
/// Permanently deletes the webhook with its secrets. Pending deliveries are discarded.
#[utoipa::path(
    delete,
    path = "/webhooks/{id}",
    tag = "Webhooks",
    params(("id" = uuid::Uuid, Path, description = "Webhook id")),
    responses(
        (status = 200, description = "The webhook is deleted", body = Envelope<DeletedWebhook>),
        (status = 404, description = "Webhook not found"),
    ),
    security(("ApiKeyHeader" = ["webhooks:write"]))
)]
pub(super) async fn delete_webhook(
    State(app): State<App>,
    caller: Authorized<WebhooksWrite>,
    WebhookPath(id): WebhookPath,
) -> Result<ApiResponse<DeletedWebhook>, ApiError> {
    app.service().webhooks.delete_webhook(&caller.actor, id).await?;
    Ok(ApiResponse::ok(DeletedWebhook {
        id: id.0,
        deleted: true,
    }))
}
