//! `POST /notification-channels/{id}/test`

use delivery::notification_channels::ChannelTestResult;

use crate::routes::prelude::*;

/// The result of a test message.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TestedNotificationChannel)]
pub struct TestNotificationChannelResponse {
    /// Whether the service accepted the message; for `email` and `sms`, whether it was queued.
    #[schema(example = true)]
    pub accepted: bool,
    /// HTTP status of the service's response, if any.
    #[schema(required, minimum = 100, maximum = 999, example = 200)]
    pub http_status: Option<u16>,
    /// Why the message was not accepted.
    #[schema(required)]
    pub error: Option<String>,
}

impl TestNotificationChannelResponse {
    fn of(result: ChannelTestResult) -> Self {
        Self {
            accepted: result.is_accepted,
            http_status: result.http_status,
            error: result.error,
        }
    }
}

/// Test a notification channel
///
/// Sends a test message, also to a disabled channel, once and without retries, and records the result in `last_success_at` and
/// `last_error`. Emails and text messages are queued, at most one per minute.
#[utoipa::path(
    post,
    path = "/notification-channels/{id}/test",
    tag = "Notification channels",
    params(("id" = uuid::Uuid, Path, description = "Notification channel id")),
    responses(
        (status = 200, description = "The result of the test", body = Envelope<TestNotificationChannelResponse>),
        (status = 404, description = "Notification channel not found"),
    ),
    security(("ApiKeyHeader" = ["webhooks:write"]))
)]
pub(super) async fn test_notification_channel(
    State(app): State<App>,
    caller: Authorized<WebhooksWrite>,
    NotificationChannelPath(id): NotificationChannelPath,
    _body: IgnoredJsonBody,
) -> Result<ApiResponse<TestNotificationChannelResponse>, ApiError> {
    let result = app.service().notification_channels.test(&caller.actor, id).await?;
    Ok(ApiResponse::ok(TestNotificationChannelResponse::of(result)))
}
