//! `POST /webhooks/{id}/rotate-secret`

use super::view::WebhookView;
use crate::routes::prelude::*;

/// A webhook with its new secret. The secret is shown only once.
#[derive(Debug, Serialize, ToSchema)]
pub struct RotatedWebhook {
    /// The webhook.
    #[serde(flatten)]
    pub webhook: WebhookView,
    /// New signing secret.
    #[schema(example = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=")]
    pub secret: String,
    /// Time until which `webhook-signature` also contains a signature with the old secret.
    #[schema(format = DateTime, example = "2026-03-03T15:04:00.000Z")]
    pub previous_secret_until: String,
}

/// Rotate a webhook's secret
///
/// Generates a new secret. `webhook-signature` contains signatures with the new secret and with each secret replaced in the last
/// 24 hours, at most five in total; `X-Service-Signature` uses the new secret immediately.
#[utoipa::path(
    post,
    path = "/webhooks/{id}/rotate-secret",
    tag = "Webhooks",
    params(("id" = uuid::Uuid, Path, description = "Webhook id")),
    responses(
        (status = 200, description = "The webhook with its new secret", body = Envelope<RotatedWebhook>),
        (status = 404, description = "Webhook not found"),
    ),
    security(("ApiKeyHeader" = ["webhooks:write"]))
)]
pub(super) async fn rotate_webhook_secret(
    State(app): State<App>,
    caller: Authorized<WebhooksWrite>,
    WebhookPath(id): WebhookPath,
    _body: IgnoredJsonBody,
) -> Result<ApiResponse<RotatedWebhook>, ApiError> {
    let rotated = app.service().webhooks.rotate_webhook_secret(&caller.actor, id).await?;
    Ok(ApiResponse::ok(RotatedWebhook {
        webhook: WebhookView::of(rotated.webhook),
        secret: rotated.secret,
        previous_secret_until: timestamp(rotated.previous_until),
    }))
}
