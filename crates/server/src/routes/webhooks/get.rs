//! `GET /webhooks/{id}`

use super::view::WebhookView;
use crate::routes::prelude::*;

/// Get a webhook
///
/// Returns the webhook with its delivery health, without its secret.
#[utoipa::path(
    get,
    path = "/webhooks/{id}",
    tag = "Webhooks",
    params(("id" = uuid::Uuid, Path, description = "Webhook id")),
    responses(
        (status = 200, description = "The webhook", body = Envelope<WebhookView>),
        (status = 404, description = "Webhook not found"),
    ),
    security(("ApiKeyHeader" = ["webhooks:read"]))
)]
pub(super) async fn get_webhook(
    State(app): State<App>,
    caller: Authorized<WebhooksRead>,
    WebhookPath(id): WebhookPath,
) -> Result<ApiResponse<WebhookView>, ApiError> {
    let webhook = app.service().webhooks.webhook(&caller.actor, id).await?;
    Ok(ApiResponse::ok(WebhookView::of(webhook)))
}
