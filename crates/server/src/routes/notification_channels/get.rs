//! `GET /notification-channels/{id}`

use super::view::NotificationChannelView;
use crate::routes::prelude::*;

/// Get a notification channel
///
/// Returns the notification channel with the result of its last message. Secrets are `***`.
#[utoipa::path(
    get,
    path = "/notification-channels/{id}",
    tag = "Notification channels",
    params(("id" = uuid::Uuid, Path, description = "Notification channel id")),
    responses(
        (status = 200, description = "The notification channel", body = Envelope<NotificationChannelView>),
        (status = 404, description = "Notification channel not found"),
    ),
    security(("ApiKeyHeader" = ["webhooks:read"]))
)]
pub(super) async fn get_notification_channel(
    State(app): State<App>,
    caller: Authorized<WebhooksRead>,
    NotificationChannelPath(id): NotificationChannelPath,
) -> Result<ApiResponse<NotificationChannelView>, ApiError> {
    let channel = app.service().notification_channels.get(&caller.actor, id).await?;
    Ok(ApiResponse::ok(NotificationChannelView::of(channel)))
}
