//! `POST /webhooks/{id}/recover`

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::{Allowed, WebhooksWrite};
use crate::body::JsonObject;
use crate::error::ApiError;
use crate::query::WebhookPath;

/// What is to be sent once more.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
pub struct RecoverWebhook {
    /// Events from then on.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    since: String,
}

/// What is sent once more.
#[derive(Debug, Serialize, ToSchema)]
pub struct RecoveredWebhook {
    /// Which webhook.
    pub id: Uuid,
    /// How many deliveries were queued anew.
    #[schema(minimum = 0, example = 12)]
    pub recovered: u64,
}

/// Recover failed deliveries
///
/// Queues those deliveries anew that were given up, of events since a time: after the receiver was down, or the webhook
/// was switched off. While it is switched off it is 400.
#[utoipa::path(
    post,
    path = "/webhooks/{id}/recover",
    tag = "Webhooks",
    params(("id" = uuid::Uuid, Path, description = "The webhook's id")),
    request_body(content = RecoverWebhook, description = "Since when"),
    responses(
        (status = 200, description = "How many are sent once more", body = Envelope<RecoveredWebhook>),
        (status = 400, description = "The body is no JSON object, its content is wrong, or the webhook is switched off"),
        (status = 404, description = "No such webhook"),
    ),
    security(("ApiKeyHeader" = ["webhooks:write"]))
)]
pub(super) async fn recover_webhook_deliveries(
    State(app): State<App>,
    who: Allowed<WebhooksWrite>,
    WebhookPath(id): WebhookPath,
    JsonObject(body): JsonObject,
) -> Result<Reply<RecoveredWebhook>, ApiError> {
    let recovered = app.service().webhooks.recover_deliveries(&who.actor, id, &body).await;
    Ok(Reply::ok(RecoveredWebhook {
        id: id.0,
        recovered: recovered.map_err(ApiError::without_422)?,
    }))
}
