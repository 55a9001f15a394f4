//! The route of an account in responses.

use alerts::routing::{ChannelRoute, RoutePolicy};

use crate::document::names::RoutePolicyName;
use crate::routes::prelude::*;

/// The route of an account.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = NotificationRoute)]
pub struct NotificationRouteView {
    /// The notification channels, in the order in which they are tried. Empty: messages go to the account's own address or number.
    pub channels: Vec<Uuid>,
    /// How the channels are used.
    #[schema(value_type = RoutePolicyName)]
    pub policy: &'static str,
    /// With `failover`: the time for an acknowledgement; null if only failures count.
    #[schema(required, example = "15m")]
    pub ack_timeout: Option<String>,
}

impl NotificationRouteView {
    pub(super) fn of(route: Option<&ChannelRoute>) -> Self {
        let policy = route.map_or(RoutePolicy::default(), |route| route.delivery.policy());
        Self {
            channels: route.map_or_else(Vec::new, |route| route.channels().to_vec()),
            policy: policy.name(),
            ack_timeout: route.and_then(|route| Some(route.delivery.ack_timeout()?.span().to_string())),
        }
    }
}
