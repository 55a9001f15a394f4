//! `PATCH /webhooks/{id}`

use axum::extract::State;
use utoipa::ToSchema;

use super::view::WebhookView;
use crate::auth::{Authorized, WebhooksWrite};
use crate::body::JsonObject;
use crate::document::names::EventName;
use crate::error::ApiError;
use crate::query::WebhookPath;
use crate::response::{ApiResponse, Envelope};
use crate::state::App;

/// The fields to change. Omitted fields keep their values.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
#[schema(as = UpdateWebhook)]
pub struct UpdateWebhookRequest {
    /// URL.
    #[schema(format = "uri", pattern = "^https://", max_length = 2048)]
    url: Option<String>,
    /// Subscribed events.
    #[schema(value_type = Option<Vec<EventName>>, min_items = 1)]
    events: Option<Vec<String>>,
    /// Whether the webhook is active.
    is_active: Option<bool>,
}

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
