//! `GET /webhooks`

use super::view::WebhookView;
use crate::routes::prelude::*;

/// List webhooks
///
/// Returns the account's webhooks, at most five, oldest first.
#[utoipa::path(
    get,
    path = "/webhooks",
    tag = "Webhooks",
    responses((status = 200, description = "The webhooks", body = Envelope<Vec<WebhookView>>)),
    security(("ApiKeyHeader" = ["webhooks:read"]))
)]
pub(super) async fn list_webhooks(
    State(app): State<App>,
    caller: Authorized<WebhooksRead>,
) -> Result<ApiResponse<Vec<WebhookView>>, ApiError> {
    let webhooks = app.service().webhooks.webhooks(&caller.actor).await?;
    Ok(ApiResponse::ok(webhooks.into_iter().map(WebhookView::of).collect()))
}
