//! The request bodies that create and update alerts: a schema for each kind of condition, and an example for each condition.
//!
//! They derive from the [`ConditionSpec`](alerts::condition::ConditionSpec)s, from which `alerts::request` parses these bodies. The
//! tests check values at and beyond the bounds of the schemas against that parser.

pub(crate) mod guide;
mod labels;
mod options;
pub(crate) mod routing;
mod schema;
#[cfg(test)]
mod tests;

use alerts::ConditionKind;
use schema::{request_schema, requests};
use serde_json::{Value, json};
use service::alerts::MAX_BATCH_CHANGES;
use utoipa::ToSchema;

/// A new alert.
#[derive(Debug, ToSchema)]
pub struct CreateAlert {}

/// The changes to an alert. Omitted fields keep their values.
#[derive(Debug, ToSchema)]
pub struct UpdateAlert {}

/// The changes to an alert, and the end of its snooze. Omitted fields keep their values.
#[derive(Debug, ToSchema)]
pub struct PatchAlert {}

/// The alerts to create, update and delete in one transaction.
#[derive(Debug, ToSchema)]
pub struct ChangeAlerts {}

/// Adds the schemas of the bodies.
pub(super) fn describe(schemas: &mut Value) {
    let mut refs = Vec::new();
    for (request, kinds) in requests() {
        schemas[request.name] = request_schema(request, &kinds);
        refs.push(json!({"$ref": format!("#/components/schemas/{}", request.name)}));
    }
    schemas["CreateAlert"] = json!({
        "description": "A new alert. `condition` determines which schema applies.",
        "oneOf": refs,
    });
    schemas["Mark"] = json!({
        "description": "Any JSON value, nested at most 8 levels deep, without the character U+0000",
        "anyOf": [
            {"type": ["boolean", "number", "null"]},
            {"type": "string", "pattern": "^[^\\u0000]*$"},
            {"type": "array", "items": {"$ref": "#/components/schemas/Mark"}},
            {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/Mark"}, "propertyNames": {"pattern": "^[^\\u0000]*$"}},
        ],
    });
    schemas["UpdateAlert"] = json!({
        "type": "object",
        "description": "The changes. The resulting alert must be valid as a new alert; CreateAlert describes the parameters of each condition.",
        "properties": {
            "condition": {"anyOf": [{"$ref": "#/components/schemas/ConditionName"}, {"type": "null"}], "description": "Null has no effect"},
            "threshold": {"type": ["number", "null"], "minimum": 0, "description": "The threshold of the condition; null removes it"},
            "notification": {"anyOf": [{"$ref": "#/components/schemas/ChannelName"}, {"type": "null"}], "description": "Null has no effect"},
            "parameters": {
                "type": ["object", "null"],
                "description": "Replaces all parameters; null removes them",
                "additionalProperties": {"$ref": "#/components/schemas/Mark"},
                "propertyNames": {"pattern": "^[^\\u0000]*$"},
            },
            "note": labels::note(),
            "tags": labels::tags(),
            "managed_by": labels::managed_by(),
            "options": options::reference(),
            "scope": schema::scope_schema(),
        },
        "examples": [{"notification": "email"}],
    });
    routing::add_to(&mut schemas["UpdateAlert"]["properties"]);
    schemas["ChangeAlerts"] = batch();
    schemas["AlertOptions"] = options::schema();
    schemas["PatchAlert"] = schemas["UpdateAlert"].clone();
    schemas["PatchAlert"]["properties"]["snooze"] = options::snooze();
}

/// Returns the schema of a batch.
fn batch() -> Value {
    let id = json!({"type": "string", "format": "uuid"});
    let list = |items: Value, description: &str| json!({"type": ["array", "null"], "maxItems": MAX_BATCH_CHANGES, "items": items, "description": description});
    let update = json!({
        "type": "object",
        "properties": {
            "id": id,
            "alert": {"allOf": [{"$ref": "#/components/schemas/UpdateAlert"}], "description": "The fields to change"},
        },
        "required": ["id", "alert"],
        "additionalProperties": false,
    });
    json!({
        "type": "object",
        "description": "The alerts to create, update and delete: at most 1,000 together, and each alert at most once",
        "properties": {
            "create": list(json!({"$ref": "#/components/schemas/CreateAlert"}), "The alerts to create"),
            "update": list(update, "The alerts to update"),
            "delete": list(id, "The ids of the alerts to delete"),
            "dry_run": {"type": ["boolean", "null"], "description": "Judges the changes, and writes nothing"},
            "source": labels::source(),
            "expected_source_revision": {
                "type": ["integer", "null"],
                "format": "int64",
                "minimum": 0,
                "maximum": i64::MAX,
                "description": "The `source_revision` that the source must still have; otherwise 409. Requires `source`",
            },
        },
        "additionalProperties": false,
    })
}

/// Returns a valid body for a condition.
pub(crate) fn example(kind: ConditionKind) -> Value {
    serde_json::from_str(kind.spec().example).unwrap_or_default()
}

/// Adds an example for each condition to the operation that creates alerts.
pub(super) fn add_examples(operation: &mut Value) {
    let Some(content) = operation.pointer_mut("/requestBody/content/application~1json") else {
        return;
    };
    if content["schema"]["$ref"] != "#/components/schemas/CreateAlert" {
        return;
    }
    let examples = ConditionKind::ALL.iter().map(|kind| {
        let example = json!({"summary": kind.name(), "value": example(*kind)});
        (kind.name().to_owned(), example)
    });
    content["examples"] = Value::Object(examples.collect());
}
