//! `PATCH /notification-channels/{id}`

use delivery::notification_channels::UpdateNotificationChannelRequest;

use super::view::LinkableNotificationChannel;
use crate::routes::prelude::*;

/// Update a notification channel
///
/// `***` keeps a secret. A channel with another destination must be verified again. A change of `config` sends a new link to an address
/// that is not verified, and returns a new code if no Telegram chat is linked.
#[utoipa::path(
    patch,
    path = "/notification-channels/{id}",
    tag = "Notification channels",
    params(("id" = uuid::Uuid, Path, description = "Notification channel id")),
    request_body(content = UpdateNotificationChannelRequest, description = "The fields to change"),
    responses(
        (status = 200, description = "The updated notification channel", body = Envelope<LinkableNotificationChannel>),
        (status = 400, description = "The body is not a JSON object"),
        (status = 404, description = "Notification channel not found"),
        (status = 409, description = "The configuration was changed at the same time"),
        (status = 422, description = "A field is invalid; fields of the configuration are named `config.url`, those of templates `templates.text`"),
    ),
    security(("ApiKeyHeader" = ["webhooks:write"]))
)]
pub(super) async fn update_notification_channel(
    State(app): State<App>,
    caller: Authorized<WebhooksWrite>,
    NotificationChannelPath(id): NotificationChannelPath,
    JsonObject(body): JsonObject,
) -> Result<ApiResponse<LinkableNotificationChannel>, ApiError> {
    let channels = &app.service().notification_channels;
    let updated = channels.update(&caller.actor, id, &body).await?;
    Ok(ApiResponse::ok(LinkableNotificationChannel::of(updated)))
}
