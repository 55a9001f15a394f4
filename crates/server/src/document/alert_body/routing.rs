//! The schemas of the routing in requests.

use alerts::routing::MAX_ROUTE_CHANNELS;
use serde_json::{Map, Value, json};

/// A length of time from 1 minute to 24 hours.
pub(crate) const ACK_TIMEOUT_PATTERN: &str =
    "^(0*([1-9][0-9]{0,2}|1[0-3][0-9]{2}|14[0-3][0-9]|1440)m|0*([1-9]|1[0-9]|2[0-4])h|0*1d)$";

/// Adds the members of a routing to the properties of a body.
pub(super) fn add_to(properties: &mut Value) {
    let members = json!({
        "channels": {
            "type": ["array", "null"],
            "maxItems": MAX_ROUTE_CHANNELS,
            "uniqueItems": true,
            "items": {"type": "string", "format": "uuid"},
            "description": "The alert's own route: the notification channels to which its firings go; null or empty for that of the account. Not for guests",
        },
        "policy": {
            "type": ["string", "null"], "enum": ["all", "failover", null],
            "description": "`all` sends a firing to all channels. `failover` sends it to the first one, and to the next one when a channel fails for good or the firing is not acknowledged in time. Needs `channels`; default `all`",
        },
        "ack_timeout": {
            "type": ["string", "null"], "pattern": ACK_TIMEOUT_PATTERN,
            "description": "With `failover`: the time for an acknowledgement, 1m to 24h; null if only failures count",
        },
        "urgent": {
            "type": ["boolean", "null"],
            "description": "Whether messages are sent during quiet hours, too; default false. Not for guests",
        },
    });
    if let (Value::Object(properties), Value::Object(members)) = (properties, members) {
        properties.extend(members.into_iter().collect::<Map<_, _>>());
    }
}
