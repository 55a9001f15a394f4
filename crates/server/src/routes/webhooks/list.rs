//! `GET /webhooks`

use axum::extract::State;

use super::view::Webhook;
use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::{Allowed, WebhooksRead};
use crate::error::ApiError;

/// List webhooks
///
/// The account's webhooks, at most five, oldest first.
#[utoipa::path(
    get,
    path = "/webhooks",
    tag = "Webhooks",
    responses((status = 200, description = "The webhooks", body = Envelope<Vec<Webhook>>)),
    security(("ApiKeyHeader" = ["webhooks:read"]))
)]
pub(super) async fn list_webhooks(
    State(app): State<App>,
    who: Allowed<WebhooksRead>,
) -> Result<Reply<Vec<Webhook>>, ApiError> {
    let webhooks = app.service().webhooks.webhooks(&who.actor).await?;
    Ok(Reply::ok(webhooks.into_iter().map(Webhook::of).collect()))
}
