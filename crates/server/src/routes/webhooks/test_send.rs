//! `POST /webhooks/test`

use axum::extract::State;
use http::StatusCode;
use serde::Serialize;
use service::webhooks::TestAnswer;
use utoipa::ToSchema;

use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::{Allowed, WebhooksWrite};
use crate::body::JsonObject;
use crate::document::names::SignatureName;
use crate::error::ApiError;

/// Where a test event is to be sent.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
pub struct TestWebhook {
    /// As a webhook's.
    #[schema(
        format = "uri",
        pattern = "^https://",
        max_length = 2048,
        example = "https://example.com/hooks/bellwether"
    )]
    url: String,
    /// What it is signed with; not needed for Slack.
    #[schema(
        min_length = 1,
        max_length = 512,
        example = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="
    )]
    secret: Option<String>,
    /// What the service's own signature is over.
    #[schema(value_type = Option<SignatureName>)]
    signature: Option<String>,
}

/// What the receiver answered.
#[derive(Debug, Serialize, ToSchema)]
pub struct TestedWebhook {
    /// Its HTTP status; 0 if it did not answer.
    #[schema(minimum = 0, maximum = 999, example = 200)]
    pub status: u16,
    /// What that status is called, or why there is none.
    #[serde(rename = "statusText")]
    #[schema(example = "OK")]
    pub status_text: String,
    /// The same as `statusText`.
    #[serde(rename = "status_text")]
    #[schema(example = "OK")]
    pub status_text_again: String,
    /// The beginning of its answer's body, at most 1 KiB.
    pub response: String,
}

impl TestedWebhook {
    fn of(answer: TestAnswer) -> Self {
        let attempt = answer.attempt;
        let status = attempt.outcome.http_status();
        let reason = status.and_then(|status| StatusCode::from_u16(status).ok()?.canonical_reason());
        let text = reason.map_or_else(|| attempt.outcome.to_string(), str::to_owned);
        Self {
            status: status.unwrap_or(0),
            status_text: text.clone(),
            status_text_again: text,
            response: attempt.response.unwrap_or_default(),
        }
    }
}

/// Test a webhook
///
/// Sends an event that looks like any other (its `data.test` is true) to the URL at once, and tells what the receiver
/// answered, once, without a retry. To Slack it goes in Slack's own format and unsigned. A host with private addresses is
/// 400, and nothing of what it would answer is told.
#[utoipa::path(
    post,
    path = "/webhooks/test",
    tag = "Webhooks",
    request_body(content = TestWebhook, description = "Where to, signed with what"),
    responses(
        (status = 200, description = "What the receiver answered", body = Envelope<TestedWebhook>),
        (status = 400, description = "The body is no JSON object, or something is wrong with its content"),
    ),
    security(("ApiKeyHeader" = ["webhooks:write"]))
)]
pub(super) async fn test_webhook(
    State(app): State<App>,
    who: Allowed<WebhooksWrite>,
    JsonObject(body): JsonObject,
) -> Result<Reply<TestedWebhook>, ApiError> {
    let answer = app.service().webhooks.test_webhook(&who.actor, &body).await;
    Ok(Reply::ok(TestedWebhook::of(answer.map_err(ApiError::without_422)?)))
}
