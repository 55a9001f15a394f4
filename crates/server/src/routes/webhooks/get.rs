//! `GET /webhooks/{id}`

use axum::extract::State;

use super::view::Webhook;
use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::{Allowed, WebhooksRead};
use crate::error::ApiError;
use crate::query::WebhookPath;

/// Get a webhook
///
/// With how it does; without its secret.
#[utoipa::path(
    get,
    path = "/webhooks/{id}",
    tag = "Webhooks",
    params(("id" = uuid::Uuid, Path, description = "The webhook's id")),
    responses(
        (status = 200, description = "The webhook", body = Envelope<Webhook>),
        (status = 404, description = "No such webhook"),
    ),
    security(("ApiKeyHeader" = ["webhooks:read"]))
)]
pub(super) async fn get_webhook(
    State(app): State<App>,
    who: Allowed<WebhooksRead>,
    WebhookPath(id): WebhookPath,
) -> Result<Reply<Webhook>, ApiError> {
    let webhook = app.service().webhooks.webhook(&who.actor, id).await?;
    Ok(Reply::ok(Webhook::of(webhook)))
}
