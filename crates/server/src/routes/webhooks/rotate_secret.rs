//! `POST /webhooks/{id}/rotate-secret`

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::view::Webhook;
use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::{Allowed, WebhooksWrite};
use crate::body::NoBody;
use crate::error::ApiError;
use crate::query::WebhookPath;
use crate::values::timestamp;

/// A webhook with its new secret: the only time that is shown.
#[derive(Debug, Serialize, ToSchema)]
pub struct RotatedWebhook {
    /// The webhook.
    #[serde(flatten)]
    pub webhook: Webhook,
    /// What deliveries are signed with from now on.
    #[schema(example = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=")]
    pub secret: String,
    /// Until then `webhook-signature` carries a signature by the old secret, too.
    #[schema(format = DateTime, example = "2026-03-03T15:04:00.000Z")]
    pub previous_secret_until: String,
}

/// Rotate a webhook's secret
///
/// Makes a new secret. `webhook-signature` carries signatures by it and by each secret that was replaced in the last
/// 24 hours, five in all at most; `X-Service-Signature` is by the new one at once.
#[utoipa::path(
    post,
    path = "/webhooks/{id}/rotate-secret",
    tag = "Webhooks",
    params(("id" = uuid::Uuid, Path, description = "The webhook's id")),
    responses(
        (status = 200, description = "The webhook with its new secret", body = Envelope<RotatedWebhook>),
        (status = 404, description = "No such webhook"),
    ),
    security(("ApiKeyHeader" = ["webhooks:write"]))
)]
pub(super) async fn rotate_webhook_secret(
    State(app): State<App>,
    who: Allowed<WebhooksWrite>,
    WebhookPath(id): WebhookPath,
    _body: NoBody,
) -> Result<Reply<RotatedWebhook>, ApiError> {
    let rotated = app.service().webhooks.rotate_webhook_secret(&who.actor, id).await?;
    Ok(Reply::ok(RotatedWebhook {
        webhook: Webhook::of(rotated.webhook),
        secret: rotated.secret,
        previous_secret_until: timestamp(rotated.previous_until),
    }))
}
