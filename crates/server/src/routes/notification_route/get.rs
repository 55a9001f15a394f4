//! `GET /notification-route`

use super::view::NotificationRouteView;
use crate::routes::prelude::*;

/// Get the route of the account
///
/// Returns the notification channels to which the firings of alerts go that have no route of their own.
#[utoipa::path(
    get,
    path = "/notification-route",
    tag = "Notification channels",
    responses((status = 200, description = "The route", body = Envelope<NotificationRouteView>)),
    security(("ApiKeyHeader" = ["webhooks:read"]))
)]
pub(super) async fn get_notification_route(
    State(app): State<App>,
    caller: Authorized<WebhooksRead>,
) -> Result<ApiResponse<NotificationRouteView>, ApiError> {
    let route = app.service().notification_channels.route(&caller.actor).await?;
    Ok(ApiResponse::ok(NotificationRouteView::of(route.as_ref())))
}
