//! `POST /webhooks/{id}/deliveries/{delivery_id}/resend`

use super::view::WebhookDelivery;
use crate::routes::prelude::*;

/// Send a delivery again
///
/// Queues a delivery again under the same id, regardless of its status. Returns 400 while the webhook is disabled.
#[utoipa::path(
    post,
    path = "/webhooks/{id}/deliveries/{delivery_id}/resend",
    tag = "Webhooks",
    params(
        ("id" = uuid::Uuid, Path, description = "Webhook id"),
        ("delivery_id" = uuid::Uuid, Path, description = "Delivery id"),
    ),
    responses(
        (status = 200, description = "The delivery, pending again", body = Envelope<WebhookDelivery>),
        (status = 400, description = "The body is not a JSON object, or the webhook is disabled"),
        (status = 404, description = "Webhook or delivery not found"),
    ),
    security(("ApiKeyHeader" = ["webhooks:write"]))
)]
pub(super) async fn resend_webhook_delivery(
    State(app): State<App>,
    caller: Authorized<WebhooksWrite>,
    DeliveryPath(id, delivery): DeliveryPath,
    _body: IgnoredJsonBody,
) -> Result<ApiResponse<WebhookDelivery>, ApiError> {
    let queued = app
        .service()
        .webhooks
        .resend_delivery(&caller.actor, id, delivery)
        .await;
    Ok(ApiResponse::ok(WebhookDelivery::of(
        queued.map_err(ApiError::validation_as_400)?,
    )))
}
