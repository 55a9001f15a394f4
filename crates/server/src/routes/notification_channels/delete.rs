//! `DELETE /notification-channels/{id}`

use crate::routes::prelude::*;

/// A deleted notification channel.
#[derive(Debug, Serialize, ToSchema)]
pub struct DeletedNotificationChannel {
    /// Unique id.
    pub id: Uuid,
    /// Always `true`.
    pub deleted: bool,
}

/// Delete a notification channel
///
/// Permanently deletes the notification channel with its configuration.
#[utoipa::path(
    delete,
    path = "/notification-channels/{id}",
    tag = "Notification channels",
    params(("id" = uuid::Uuid, Path, description = "Notification channel id")),
    responses(
        (status = 200, description = "The notification channel is deleted", body = Envelope<DeletedNotificationChannel>),
        (status = 404, description = "Notification channel not found"),
    ),
    security(("ApiKeyHeader" = ["webhooks:write"]))
)]
pub(super) async fn delete_notification_channel(
    State(app): State<App>,
    caller: Authorized<WebhooksWrite>,
    NotificationChannelPath(id): NotificationChannelPath,
) -> Result<ApiResponse<DeletedNotificationChannel>, ApiError> {
    app.service().notification_channels.delete(&caller.actor, id).await?;
    Ok(ApiResponse::ok(DeletedNotificationChannel {
        id: id.0,
        deleted: true,
    }))
}
