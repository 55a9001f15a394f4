//! `GET /notification-channels`

use super::view::NotificationChannelView;
use crate::routes::prelude::*;

/// List notification channels
///
/// Returns the account's notification channels, at most 50, oldest first. Secrets are `***`.
#[utoipa::path(
    get,
    path = "/notification-channels",
    tag = "Notification channels",
    responses((status = 200, description = "The notification channels", body = Envelope<Vec<NotificationChannelView>>)),
    security(("ApiKeyHeader" = ["webhooks:read"]))
)]
pub(super) async fn list_notification_channels(
    State(app): State<App>,
    caller: Authorized<WebhooksRead>,
) -> Result<ApiResponse<Vec<NotificationChannelView>>, ApiError> {
    let channels = app.service().notification_channels.list(&caller.actor).await?;
    let views = channels.into_iter().map(NotificationChannelView::of);
    Ok(ApiResponse::ok(views.collect()))
}
