//! `PUT /notification-route`

use super::view::NotificationRouteView;
use crate::document::names::RoutePolicyName;
use crate::routes::prelude::*;

/// The route of an account.
#[derive(Debug, ToSchema)]
#[schema(example = json!({"channels": [], "policy": null}))]
#[expect(dead_code, reason = "describes the body; the service reads it")]
pub struct SetNotificationRoute {
    /// The notification channels, in the order in which they are tried; null or empty to send messages to the account's own address or
    /// number.
    #[schema(nullable, max_items = 50)]
    channels: Option<Vec<Uuid>>,
    /// How the channels are used. `failover` sends a firing to the first one, and to the next one when a channel fails for good or the
    /// firing is not acknowledged in time. Needs `channels`; default `all`.
    #[schema(nullable)]
    policy: Option<RoutePolicyName>,
    /// With `failover`: the time for an acknowledgement, 1m to 24h; null if only failures count.
    #[schema(
        nullable,
        pattern = "^(0*([1-9][0-9]{0,2}|1[0-3][0-9]{2}|14[0-3][0-9]|1440)m|0*([1-9]|1[0-9]|2[0-4])h|0*1d)$"
    )]
    ack_timeout: Option<String>,
}

/// Set the route of the account
///
/// Sets the notification channels to which the firings of alerts go that have no route of their own. The new route replaces the former
/// one as a whole. Webhooks get every firing besides; in a route, a channel of type `webhook` stands for the delivery to its webhook.
#[utoipa::path(
    put,
    path = "/notification-route",
    tag = "Notification channels",
    request_body(content = SetNotificationRoute, description = "The new route"),
    responses(
        (status = 200, description = "The new route", body = Envelope<NotificationRouteView>),
        (status = 400, description = "The body is not a JSON object"),
        (status = 422, description = "A field is invalid"),
    ),
    security(("ApiKeyHeader" = ["webhooks:write"]))
)]
pub(super) async fn set_notification_route(
    State(app): State<App>,
    caller: Authorized<WebhooksWrite>,
    JsonObject(body): JsonObject,
) -> Result<ApiResponse<NotificationRouteView>, ApiError> {
    let channels = &app.service().notification_channels;
    let route = channels.set_route(&caller.actor, &body).await?;
    Ok(ApiResponse::ok(NotificationRouteView::of(route.as_ref())))
}
