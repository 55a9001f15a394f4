//! `POST /webhooks/{id}/deliveries/{delivery_id}/resend`

use axum::extract::State;

use super::view::WebhookDelivery;
use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::{Allowed, WebhooksWrite};
use crate::body::NoBody;
use crate::error::ApiError;
use crate::query::DeliveryPath;

/// Send a delivery again
///
/// Queues it anew, under its id, whatever became of it. While the webhook is switched off it is 400.
#[utoipa::path(
    post,
    path = "/webhooks/{id}/deliveries/{delivery_id}/resend",
    tag = "Webhooks",
    params(
        ("id" = uuid::Uuid, Path, description = "The webhook's id"),
        ("delivery_id" = uuid::Uuid, Path, description = "The delivery's id"),
    ),
    responses(
        (status = 200, description = "The delivery, pending again", body = Envelope<WebhookDelivery>),
        (status = 400, description = "The body is no JSON object, or the webhook is switched off"),
        (status = 404, description = "No such webhook, or no such delivery of it"),
    ),
    security(("ApiKeyHeader" = ["webhooks:write"]))
)]
pub(super) async fn resend_webhook_delivery(
    State(app): State<App>,
    who: Allowed<WebhooksWrite>,
    DeliveryPath(id, delivery): DeliveryPath,
    _body: NoBody,
) -> Result<Reply<WebhookDelivery>, ApiError> {
    let queued = app.service().webhooks.resend_delivery(&who.actor, id, delivery).await;
    Ok(Reply::ok(WebhookDelivery::of(queued.map_err(ApiError::without_422)?)))
}
