//! `POST /webhooks/{id}/recover`

use delivery::webhooks::RecoverDeliveriesRequest;

use crate::routes::prelude::*;

/// Number of recovered deliveries.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RecoveredWebhook)]
pub struct RecoverDeliveriesResponse {
    /// Webhook id.
    pub id: Uuid,
    /// Number of deliveries that were queued again.
    #[schema(minimum = 0, example = 12)]
    pub recovered: u64,
}

/// Recover failed deliveries
///
/// Queues failed deliveries of events since the given time again, for example after the receiver was down or the webhook was
/// disabled. Returns 400 while the webhook is disabled.
#[utoipa::path(
    post,
    path = "/webhooks/{id}/recover",
    tag = "Webhooks",
    params(("id" = uuid::Uuid, Path, description = "Webhook id")),
    request_body(content = RecoverDeliveriesRequest, description = "Start time of the events"),
    responses(
        (status = 200, description = "The number of deliveries that were queued again", body = Envelope<RecoverDeliveriesResponse>),
        (status = 400, description = "The body is not a JSON object, a field is invalid, or the webhook is disabled"),
        (status = 404, description = "Webhook not found"),
    ),
    security(("ApiKeyHeader" = ["webhooks:write"]))
)]
pub(super) async fn recover_webhook_deliveries(
    State(app): State<App>,
    caller: Authorized<WebhooksWrite>,
    WebhookPath(id): WebhookPath,
    JsonObject(body): JsonObject,
) -> Result<ApiResponse<RecoverDeliveriesResponse>, ApiError> {
    let recovered = app
        .service()
        .webhooks
        .recover_deliveries(&caller.actor, id, &body)
        .await;
    Ok(ApiResponse::ok(RecoverDeliveriesResponse {
        id: id.0,
        recovered: recovered.map_err(ApiError::validation_as_400)?,
    }))
}
