//! The `webhooks` section: the requests that the service sends to a webhook's URL.

use serde_json::{Value, json};

use super::examples::{ID as ALERT_ID, INSTANT};
use super::names::names_of;

/// Adds the section and the schemas of its payload.
pub(super) fn describe(document: &mut Value) {
    let schemas = &mut document["components"]["schemas"];
    schemas["AlertTriggeredEvent"] = event_schema();
    schemas["TriggeredAlert"] = alert_schema();
    schemas["TriggeredStock"] = stock_schema();
    document["webhooks"] = json!({"alert.triggered": {"post": {
        "tags": ["Webhooks"],
        "operationId": "deliver_alert_triggered",
        "summary": "An alert fired",
        "description": "Sent to each active webhook of the alert's account. The body is compact JSON and is the same on every attempt. \
            Verify a signature over the raw body, in constant time. A response that is not 2xx within 5 seconds is retried three \
            times. Slack URLs get Slack's own message format instead, unsigned.",
        "parameters": headers(),
        "requestBody": {
            "required": true,
            "description": "The event",
            "content": {"application/json": {
                "schema": {"$ref": "#/components/schemas/AlertTriggeredEvent"},
                "example": example(),
            }},
        },
        "responses": {
            "2XX": {"description": "The receiver has accepted the delivery"},
            "410": {"description": "The receiver wants no more deliveries; the webhook is disabled"},
            "default": {"description": "The delivery failed and is retried; `Retry-After` is honoured up to one hour"},
        },
        "security": [],
    }}});
}

fn headers() -> Value {
    let header = |name: &str, description: &str, schema: Value, example: &str| {
        json!({
            "name": name, "in": "header", "required": true, "description": description, "schema": schema, "example": example,
        })
    };
    let text = || json!({"type": "string"});
    let id = || json!({"type": "string", "format": "uuid"});
    json!([
        header(
            "X-Service-Event",
            "The event. This header and the next three are also sent with the prefix `X-StockAlert`; operators choose the \
             prefixes (`webhooks.header_prefixes`)",
            json!({"type": "string", "enum": [delivery::webhooks::EVENT]}),
            delivery::webhooks::EVENT,
        ),
        header(
            "X-Service-Delivery",
            "The id of the delivery, the same on every attempt, and the `id` of the body",
            id(),
            EVENT_ID,
        ),
        header(
            "X-Service-Timestamp",
            "The `timestamp` of the body; in milliseconds since the Unix epoch if the operator has set `webhooks.timestamp_format`",
            text(),
            INSTANT,
        ),
        header(
            "X-Service-Signature",
            "`sha256=` and the HMAC-SHA-256 of `<X-Service-Timestamp>.<body>` in hex; for a webhook with `signature: \"body\"` the \
             hex digest of the body alone",
            json!({"type": "string", "pattern": "^(sha256=)?[0-9a-f]{64}$"}),
            "sha256=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd",
        ),
        header(
            "webhook-id",
            "The id of the delivery, for Standard Webhooks",
            id(),
            EVENT_ID
        ),
        header(
            "webhook-timestamp",
            "The time of this attempt in seconds since the Unix epoch, for Standard Webhooks",
            json!({"type": "string", "pattern": "^[0-9]+$"}),
            "1772463840",
        ),
        header(
            "webhook-signature",
            "`v1,` and the base64 of the HMAC-SHA-256 of `<webhook-id>.<webhook-timestamp>.<body>`, for Standard Webhooks; one for \
             each valid secret, separated by spaces",
            json!({"type": "string", "pattern": "^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$"}),
            "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
        ),
    ])
}

const EVENT_ID: &str = "6fb0ae54-4f8a-4f0c-9df3-0f3a8f8e1c55";

fn example() -> Value {
    json!({
        "id": EVENT_ID,
        "event": delivery::webhooks::EVENT,
        "timestamp": INSTANT,
        "data": {
            "alert": {
                "id": ALERT_ID, "symbol": "AAPL", "condition": "price_above", "threshold": 198.66,
                "status": "triggered", "notification": "email", "triggered_at": INSTANT, "triggered_value": 198.7,
                "initial_price": 189.2, "parameters": null,
            },
            "stock": {"symbol": "AAPL", "price": 198.7, "change": 1.2, "change_percent": 0.607_595},
            "company_name": "Apple Inc.",
            "reason": "price 198.70 is at or above 198.66",
        },
    })
}

fn event_schema() -> Value {
    json!({
        "type": "object",
        "description": "An alert that fired. Ignore members that you do not know.",
        "required": ["id", "event", "timestamp", "data"],
        "properties": {
            "id": {"type": "string", "format": "uuid", "description": "The id of the delivery", "example": EVENT_ID},
            "event": {"type": "string", "enum": [delivery::webhooks::EVENT], "description": "The event"},
            "timestamp": {"type": "string", "format": "date-time", "description": "The time of the event", "example": INSTANT},
            "data": {
                "type": "object",
                "required": ["alert", "stock", "company_name", "reason"],
                "properties": {
                    "alert": {"$ref": "#/components/schemas/TriggeredAlert"},
                    "stock": {"$ref": "#/components/schemas/TriggeredStock"},
                    "company_name": {"type": "string", "description": "The company's name, or the symbol if no name is known", "example": "Apple Inc."},
                    "reason": {"type": "string", "description": "The reason why the alert fired", "example": "price 198.70 is at or above 198.66"},
                    "explanation": {
                        "type": "array",
                        "description": "The comparisons when it fired, of an expression or of an alert with options; otherwise absent",
                        "items": {
                            "type": "object",
                            "required": ["text", "left", "right", "holds"],
                            "properties": {
                                "text": {"type": "string", "description": "The comparison", "example": "price > sma(200)"},
                                "left": {"type": ["number", "null"], "description": "The value of the left side", "example": 198.7},
                                "right": {"type": ["number", "null"], "description": "The value of the right side", "example": 190.2},
                                "holds": {"type": ["boolean", "null"], "description": "Whether it held; null if that was unknown"},
                            },
                        },
                    },
                    "test": {"type": "boolean", "description": "`true` in a test event, otherwise absent", "example": true},
                },
            },
        },
    })
}

fn alert_schema() -> Value {
    json!({
        "type": "object",
        "description": "The alert as it was when it fired.",
        "required": [
            "id", "symbol", "condition", "threshold", "status", "notification", "triggered_at", "triggered_value", "initial_price",
            "parameters",
        ],
        "properties": {
            "id": {"type": "string", "format": "uuid", "description": "The alert's id"},
            "symbol": {"type": "string", "description": "The stock", "example": "AAPL"},
            "condition": {"$ref": "#/components/schemas/ConditionName"},
            "threshold": {"type": ["number", "null"], "description": "The threshold; null if the condition has none", "example": 198.66},
            "status": {"type": "string", "enum": [alerts::Status::Active.name(), alerts::Status::Triggered.name()], "description": "`active` if the alert has options by which it fires again; otherwise `triggered`, even for a daily reminder"},
            "notification": {"type": "string", "enum": names_of(alerts::Channel::ALL, alerts::Channel::name), "description": "The alert's notification channel"},
            "triggered_at": {"type": "string", "format": "date-time", "description": "When it fired", "example": INSTANT},
            "triggered_value": {"type": ["number", "null"], "description": "The value that was compared with the threshold: a price, an RSI, a ratio", "example": 198.7},
            "initial_price": {"type": ["number", "null"], "description": "The price when the alert was created or last activated", "example": 189.2},
            "parameters": {"type": ["object", "null"], "description": "The alert's parameters"},
            "note": {"type": "string", "description": "The owner's note, otherwise absent"},
            "tags": {"type": "array", "items": {"type": "string"}, "description": "The owner's tags, otherwise absent"},
            "late": {"type": "boolean", "description": "`true` if the price crossed the threshold while no prices were received, otherwise absent"},
            "crossed_at": {"type": "string", "format": "date-time", "description": "The time of the crossing, if the alert fired late"},
        },
    })
}

fn stock_schema() -> Value {
    json!({
        "type": "object",
        "description": "The stock when the alert fired.",
        "required": ["symbol", "price", "change", "change_percent"],
        "properties": {
            "symbol": {"type": "string", "description": "The stock", "example": "AAPL"},
            "price": {"type": ["number", "null"], "description": "The price in US dollars", "example": 198.7},
            "change": {"type": ["number", "null"], "description": "The change since the previous close in US dollars", "example": 1.2},
            "change_percent": {"type": ["number", "null"], "description": "The same in percent", "example": 0.607_595},
        },
    })
}
