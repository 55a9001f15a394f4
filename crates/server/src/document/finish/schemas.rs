//! Rules of schemas that the types of the endpoints do not express.

use serde_json::{Value, json};

use crate::document::{alert_body, ingest_body};

/// Completes the schemas of the components.
pub(super) fn complete(schemas: &mut Value) {
    allow_overlapping_alert_sizes(schemas);
    alert_body::describe(schemas);
    ingest_body::describe(schemas);
    for (name, is_true) in [("ErrorEnvelope", false), ("Recorded", true)] {
        schemas[name]["properties"]["success"]["const"] = json!(is_true);
    }
    if let Some(schemas) = schemas.as_object_mut() {
        for (name, schema) in schemas {
            if name.starts_with("Envelope_") {
                schema["properties"]["success"]["const"] = json!(true);
            }
        }
    }
    for name in [
        "DeletedWebhook",
        "DeletedNotificationChannel",
        "DeletedWatchlistItem",
        "DeletedApiKey",
        "DeletedAccount",
        "EndedGrant",
    ] {
        schemas[name]["properties"]["deleted"]["const"] = json!(true);
    }
    schemas["RequestPhone"]["properties"]["sms_consent"]["const"] = json!(true);
    // Slack messages are unsigned, so a test of a Slack URL needs no secret.
    schemas["TestWebhook"]["anyOf"] = json!([
        {"title": "Signed", "required": ["secret"], "properties": {"secret": {"type": "string"}}},
        {"title": "Slack", "properties": {"url": {"pattern": "^https://hooks\\.slack(-gov)?\\.com/"}}},
    ]);
    schemas["TestWebhook"]["example"] = json!({
        "url": "https://example.com/hooks/bellwether",
        "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=",
    });
    for (name, description) in [
        (
            "secret",
            "Must be omitted; `POST /webhooks/{id}/rotate-secret` creates a new secret",
        ),
        ("signature", "Must be omitted; it is set when the webhook is created"),
    ] {
        schemas["UpdateWebhook"]["properties"][name] = json!({"type": "null", "description": description});
    }
}

/// Replaces `oneOf` by `anyOf` for the three sizes of a listed alert, because the larger sizes contain the smaller ones.
fn allow_overlapping_alert_sizes(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            let is_of_sizes = members
                .get("oneOf")
                .is_some_and(|sizes| sizes[0]["$ref"] == "#/components/schemas/ExtendedAlert");
            if is_of_sizes && let Some(sizes) = members.remove("oneOf") {
                members.insert("anyOf".to_owned(), sizes);
            }
            members.values_mut().for_each(allow_overlapping_alert_sizes);
        }
        Value::Array(values) => values.iter_mut().for_each(allow_overlapping_alert_sizes),
        _ => {}
    }
}
