//! `POST /webhooks`

use axum::extract::State;
use http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use super::view::Webhook;
use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::{Allowed, WebhooksWrite};
use crate::body::JsonObject;
use crate::document::names::{EventName, SignatureName};
use crate::error::ApiError;

/// Where events are to be sent.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
pub struct CreateWebhook {
    /// An address of the public internet, by https; without a user's name, without a fragment. Where the operator has opened
    /// private ranges (`webhooks.allow_private_cidrs`), also by http to these.
    #[schema(
        format = "uri",
        pattern = "^https://",
        max_length = 2048,
        example = "https://example.com/hooks/bellwether"
    )]
    url: String,
    /// Which events.
    #[schema(value_type = Vec<EventName>, min_items = 1, example = json!(["alert.triggered"]))]
    events: Vec<String>,
    /// What deliveries are signed with; left out, one is made.
    #[schema(min_length = 1, max_length = 512)]
    secret: Option<String>,
    /// What the service's own signature is over.
    #[schema(value_type = Option<SignatureName>)]
    signature: Option<String>,
    /// Whether anything is sent from the start; left out, it is.
    #[schema(default = true)]
    is_active: Option<bool>,
}

/// A new webhook, with its secret: the only time that is shown.
#[derive(Debug, Serialize, ToSchema)]
pub struct NewWebhook {
    /// The webhook.
    #[serde(flatten)]
    pub webhook: Webhook,
    /// What deliveries are signed with: `whsec_` and base64, unless you have given your own. Keep it.
    #[schema(example = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=")]
    pub secret: String,
}

/// Create a webhook
///
/// From now on each alert that fires is posted to the URL, signed with the secret. An account has at most five: one more
/// is 403. A host that has private addresses is refused; one that does not resolve yet is not.
#[utoipa::path(
    post,
    path = "/webhooks",
    tag = "Webhooks",
    request_body(content = CreateWebhook, description = "Where to send what"),
    responses(
        (status = 201, description = "A new webhook, with its secret", body = Envelope<NewWebhook>),
        (status = 400, description = "The body is no JSON object, or something is wrong with its content"),
    ),
    security(("ApiKeyHeader" = ["webhooks:write"]))
)]
pub(super) async fn create_webhook(
    State(app): State<App>,
    who: Allowed<WebhooksWrite>,
    JsonObject(body): JsonObject,
) -> Result<Reply<NewWebhook>, ApiError> {
    let created = app.service().webhooks.create_webhook(&who.actor, &body).await;
    let created = created.map_err(ApiError::without_422)?;
    let new = NewWebhook {
        webhook: Webhook::of(created.webhook),
        secret: created.secret,
    };
    Ok(Reply::with(StatusCode::CREATED, new))
}
