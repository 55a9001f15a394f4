//! `PATCH /webhooks/{id}`

use axum::extract::State;
use utoipa::ToSchema;

use super::view::Webhook;
use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::{Allowed, WebhooksWrite};
use crate::body::JsonObject;
use crate::document::names::EventName;
use crate::error::ApiError;
use crate::query::WebhookPath;

/// What is to change about a webhook; what is left out stays.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
pub struct UpdateWebhook {
    /// Where events are to be sent.
    #[schema(format = "uri", pattern = "^https://", max_length = 2048)]
    url: Option<String>,
    /// Which events.
    #[schema(value_type = Option<Vec<EventName>>, min_items = 1)]
    events: Option<Vec<String>>,
    /// Whether anything is sent.
    is_active: Option<bool>,
}

/// Update a webhook
///
/// One that is switched off gets nothing, and what still waits for it is given up (see recover). One that is switched on
/// begins anew.
#[utoipa::path(
    patch,
    path = "/webhooks/{id}",
    tag = "Webhooks",
    params(("id" = uuid::Uuid, Path, description = "The webhook's id")),
    request_body(content = UpdateWebhook, description = "What is to change"),
    responses(
        (status = 200, description = "The webhook as it is now", body = Envelope<Webhook>),
        (status = 400, description = "The body is no JSON object, or something is wrong with its content"),
        (status = 404, description = "No such webhook"),
    ),
    security(("ApiKeyHeader" = ["webhooks:write"]))
)]
pub(super) async fn update_webhook(
    State(app): State<App>,
    who: Allowed<WebhooksWrite>,
    WebhookPath(id): WebhookPath,
    JsonObject(body): JsonObject,
) -> Result<Reply<Webhook>, ApiError> {
    let updated = app.service().webhooks.update_webhook(&who.actor, id, &body).await;
    Ok(Reply::ok(Webhook::of(updated.map_err(ApiError::without_422)?)))
}
