//! `POST /notification-channels`

use delivery::notification_channels::CreateNotificationChannelRequest;

use super::view::LinkableNotificationChannel;
use crate::routes::prelude::*;

/// Create a notification channel
///
/// The members of `config` depend on the type: `slack`, `discord`, `teams`, `apprise` `{url}`; `ntfy` `{url?, topic, token?}`; `pushover`
/// `{user, token?}`; `telegram` `{bot_token?}`; `web_push` `{endpoint, p256dh, auth}`, the subscription of a browser; `email` `{address}`;
/// `webhook` `{webhook_id}`; `sms` `{}`, for the account's phone number.
/// An email address gets a link that verifies it. A Telegram channel gets a code: send `/start CODE` to the bot within 15 minutes. A
/// browser that subscribes again, with the same `endpoint`, keeps its channel, which is updated and returned with 200. An
/// account can have 50 channels; one more returns 403. A host with private addresses is refused.
#[utoipa::path(
    post,
    path = "/notification-channels",
    tag = "Notification channels",
    request_body(content = CreateNotificationChannelRequest, description = "The notification channel to create"),
    responses(
        (status = 200, description = "The browser has a channel already, which is updated", body = Envelope<LinkableNotificationChannel>),
        (status = 201, description = "The new notification channel", body = Envelope<LinkableNotificationChannel>),
        (status = 400, description = "The body is not a JSON object"),
        (status = 422, description = "A field is invalid; fields of the configuration are named `config.url`, those of templates `templates.text`"),
    ),
    security(("ApiKeyHeader" = ["webhooks:write"]))
)]
pub(super) async fn create_notification_channel(
    State(app): State<App>,
    caller: Authorized<WebhooksWrite>,
    JsonObject(body): JsonObject,
) -> Result<ApiResponse<LinkableNotificationChannel>, ApiError> {
    let created = app.service().notification_channels.create(&caller.actor, &body).await?;
    let status = if created.is_new {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    Ok(ApiResponse::with(status, LinkableNotificationChannel::of(created)))
}
