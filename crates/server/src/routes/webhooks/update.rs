//! `PATCH /webhooks/{id}`

use delivery::webhooks::UpdateWebhookRequest;

use super::view::WebhookView;
use crate::routes::prelude::*;

/// Update a webhook
///
/// Disabling a webhook stops deliveries and discards pending ones (see recover). Enabling it starts with a clean failure record.
#[utoipa::path(
    patch,
    path = "/webhooks/{id}",
    tag = "Webhooks",
    params(("id" = uuid::Uuid, Path, description = "Webhook id")),
    request_body(content = UpdateWebhookRequest, description = "The fields to change"),
    responses(
        (status = 200, description = "The updated webhook", body = Envelope<WebhookView>),
        (status = 400, description = "The body is not a JSON object, or a field is invalid"),
        (status = 404, description = "Webhook not found"),
    ),
    security(("ApiKeyHeader" = ["webhooks:write"]))
)]
pub(super) async fn update_webhook(
    State(app): State<App>,
    caller: Authorized<WebhooksWrite>,
    WebhookPath(id): WebhookPath,
    JsonObject(body): JsonObject,
) -> Result<ApiResponse<WebhookView>, ApiError> {
    let updated = app.service().webhooks.update_webhook(&caller.actor, id, &body).await;
    Ok(ApiResponse::ok(WebhookView::of(
        updated.map_err(ApiError::validation_as_400)?,
    )))
}
