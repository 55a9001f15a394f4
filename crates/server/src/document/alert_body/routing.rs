//! The schemas of the routing in requests.

use alerts::routing::{MAX_ALERT_TEMPLATE_BYTES, MAX_ROUTE_CHANNELS, MessageTemplates};
use serde_json::{Value, json};

/// A length of time from 1 minute to 24 hours.
pub(crate) const ACK_TIMEOUT_PATTERN: &str =
    "^(0*([1-9][0-9]{0,2}|1[0-3][0-9]{2}|14[0-3][0-9]|1440)m|0*([1-9]|1[0-9]|2[0-4])h|0*1d)$";

/// The descriptions of the members as arguments of a tool: shorter, because the list of tools becomes a part of an agent's context.
const TOOL_DESCRIPTIONS: [(&str, &str); 4] = [
    ("channels", "Ids of notification channels; null: the account's route"),
    ("policy", "All at once, or one after another"),
    ("ack_timeout", "With failover: 1m to 24h until the next channel"),
    ("urgent", "Also sent in quiet hours"),
];

/// Adds the members of a routing to the properties of a body.
pub(super) fn add_to(properties: &mut Value) {
    extend(properties, members());
}

/// Adds the members of a routing, without templates, to the arguments of a tool. The types and limits are those of a body.
pub(crate) fn add_to_arguments(arguments: &mut Value) {
    let mut members = members();
    // They are long, and for people.
    if let Value::Object(members) = &mut members {
        members.shift_remove("templates");
    }
    for (name, description) in TOOL_DESCRIPTIONS {
        members[name]["description"] = description.into();
    }
    // The use case checks it, and the description says it in fewer characters.
    if let Value::Object(ack_timeout) = &mut members["ack_timeout"] {
        ack_timeout.shift_remove("pattern");
    }
    extend(arguments, members);
}

fn extend(properties: &mut Value, members: Value) {
    if let (Value::Object(properties), Value::Object(members)) = (properties, members) {
        properties.extend(members);
    }
}

fn members() -> Value {
    json!({
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
        "templates": {
            "type": ["object", "null"],
            "properties": templates(),
            "additionalProperties": false,
            "description": format!("The templates of its messages, in place of those of the notification channels. Omitted ones keep their values; null removes one, or all of them. Together at most {MAX_ALERT_TEMPLATE_BYTES} bytes. `payload` needs the scope `webhooks:write`. Not for guests"),
        },
    })
}

fn templates() -> Value {
    let names = MessageTemplates::default().named().map(|(name, _)| name);
    let template =
        json!({"type": ["string", "null"], "maxLength": MAX_ALERT_TEMPLATE_BYTES, "pattern": "^[^\\u0000]*$"});
    names.into_iter().map(|name| (name, template.clone())).collect()
}
