//! `POST /webhooks`

use delivery::webhooks::CreateWebhookRequest;

use super::view::WebhookView;
use crate::routes::prelude::*;

/// A new webhook, including its secret. The secret is shown only once.
#[derive(Debug, Serialize, ToSchema)]
pub struct NewWebhook {
    /// The webhook.
    #[serde(flatten)]
    pub webhook: WebhookView,
    /// Signing secret: `whsec_` and base64, unless you sent your own. Store it safely; it cannot be retrieved again.
    #[schema(example = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=")]
    pub secret: String,
}

/// Create a webhook
///
/// Each fired alert is posted to the URL, signed with the secret. An account can have five webhooks; a sixth returns 403. A host with
/// private addresses is refused; a host that does not resolve yet is accepted.
#[utoipa::path(
    post,
    path = "/webhooks",
    tag = "Webhooks",
    request_body(content = CreateWebhookRequest, description = "The webhook to create"),
    responses(
        (status = 201, description = "The new webhook, including its secret", body = Envelope<NewWebhook>),
        (status = 400, description = "The body is not a JSON object, or a field is invalid"),
    ),
    security(("ApiKeyHeader" = ["webhooks:write"]))
)]
pub(super) async fn create_webhook(
    State(app): State<App>,
    caller: Authorized<WebhooksWrite>,
    JsonObject(body): JsonObject,
) -> Result<ApiResponse<NewWebhook>, ApiError> {
    let created = app.service().webhooks.create_webhook(&caller.actor, &body).await;
    let created = created.map_err(ApiError::validation_as_400)?;
    let new = NewWebhook {
        webhook: WebhookView::of(created.webhook),
        secret: created.secret,
    };
    Ok(ApiResponse::with(StatusCode::CREATED, new))
}
