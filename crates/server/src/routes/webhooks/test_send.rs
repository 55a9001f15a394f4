//! `POST /webhooks/test`

use delivery::webhooks::TestWebhookRequest;
use delivery::webhooks::WebhookTestResult;

use crate::routes::prelude::*;

/// The receiver's response.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TestedWebhook)]
pub struct TestWebhookResponse {
    /// HTTP status; 0 if there was no response.
    #[schema(minimum = 0, maximum = 999, example = 200)]
    pub status: u16,
    /// Reason phrase of the status, or the reason why there is no response.
    #[serde(rename = "statusText")]
    #[schema(example = "OK")]
    pub status_text: String,
    /// Same as `statusText`.
    #[serde(rename = "status_text")]
    #[schema(example = "OK")]
    pub status_text_snake_case: String,
    /// Start of the response body, at most 1 KiB.
    pub response: String,
}

impl TestWebhookResponse {
    fn of(answer: WebhookTestResult) -> Self {
        let attempt = answer.attempt;
        let status = attempt.outcome.http_status();
        let reason = status.and_then(|status| StatusCode::from_u16(status).ok()?.canonical_reason());
        let text = reason.map_or_else(|| attempt.outcome.to_string(), str::to_owned);
        Self {
            status: status.unwrap_or(0),
            status_text: text.clone(),
            status_text_snake_case: text,
            response: attempt.response.unwrap_or_default(),
        }
    }
}

/// Test a webhook
///
/// Sends a test event (`data.test` is `true`) to the URL immediately, once and without retries, and returns the receiver's
/// response. Slack URLs receive Slack's own format, unsigned. Returns 400 for a host with private addresses; its response is not
/// revealed.
#[utoipa::path(
    post,
    path = "/webhooks/test",
    tag = "Webhooks",
    request_body(content = TestWebhookRequest, description = "The URL and the signing secret"),
    responses(
        (status = 200, description = "The receiver's response", body = Envelope<TestWebhookResponse>),
        (status = 400, description = "The body is not a JSON object, or a field is invalid"),
    ),
    security(("ApiKeyHeader" = ["webhooks:write"]))
)]
pub(super) async fn test_webhook(
    State(app): State<App>,
    caller: Authorized<WebhooksWrite>,
    JsonObject(body): JsonObject,
) -> Result<ApiResponse<TestWebhookResponse>, ApiError> {
    let answer = app.service().webhooks.test_webhook(&caller.actor, &body).await;
    Ok(ApiResponse::ok(TestWebhookResponse::of(
        answer.map_err(ApiError::validation_as_400)?,
    )))
}
