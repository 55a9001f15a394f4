//! The request bodies that create and update alerts: a schema for each kind of condition, and an example for each condition.
//!
//! The service parses these bodies itself (`alerts::request`), so the schemas are written by hand. The tests check values at
//! and beyond the bounds of the schemas against that parser.

mod examples;
pub(crate) mod guide;
mod shapes;
#[cfg(test)]
mod tests;

use alerts::ConditionKind as Kind;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

pub(super) use examples::add_examples;
use shapes::{RequestShape, ThresholdRule, optional, shapes};

/// A new alert.
#[derive(Debug, ToSchema)]
pub struct CreateAlert {}

/// The changes to an alert. Omitted fields keep their values.
#[derive(Debug, ToSchema)]
pub struct UpdateAlert {}

impl RequestShape {
    fn schema(&self) -> Value {
        let names: Vec<&str> = self.kinds.iter().map(|kind| kind.name()).collect();
        let mut properties = json!({
            "symbol": {"type": "string", "pattern": "^[A-Za-z0-9.-]{1,10}$", "description": "The ticker symbol, in upper or lower case"},
            "condition": {"type": "string", "enum": names},
        });
        let mut required = vec!["symbol", "condition"];
        properties["threshold"] = match &self.threshold {
            ThresholdRule::Omitted => json!({"type": "null", "description": "Must be omitted"}),
            ThresholdRule::Ignored(schema) => schema.clone(),
            ThresholdRule::Optional(schema) => optional(schema.clone()),
            ThresholdRule::Required(schema) => {
                required.push("threshold");
                schema.clone()
            }
        };
        properties["notification"] = json!({
            "type": ["string", "null"], "enum": ["email", "sms", null],
            "description": "The notification channel, in addition to webhooks; default `email`. `sms` goes to the account's verified number",
        });
        properties["parameters"] = self.parameters_schema();
        if !self.required.is_empty() {
            required.push("parameters");
        }
        properties["email"] = json!({
            "type": ["string", "null"], "format": "email",
            "description": "The email address of a guest. Accounts are notified at their own address",
        });
        let mut schema = json!({
            "type": "object",
            "title": self.name,
            "description": self.description,
            "properties": properties,
            "required": required,
        });
        if self.kinds == [Kind::Reminder] {
            let none = json!({"date": null_only(), "reminder_date": null_only(), "reminder_time": null_only()});
            schema["anyOf"] = json!([
                {"title": "With a date", "required": ["parameters"], "properties": {"parameters": {"type": "object", "required": ["date"], "properties": {"date": {"type": "string"}, "reminder_date": null_only(), "reminder_time": null_only()}}}},
                {"title": "With reminder_date", "required": ["parameters"], "properties": {"parameters": {"type": "object", "required": ["reminder_date"], "properties": {"reminder_date": {"type": "string"}, "date": null_only()}}}},
                {"title": "Without a date", "required": ["threshold"], "properties": {"threshold": {"type": "integer", "minimum": 1, "maximum": 36_500}, "parameters": {"properties": none}}},
            ]);
            for name in ["date", "reminder_date"] {
                let own = &mut schema["properties"]["parameters"]["properties"][name];
                *own = optional(own.clone());
            }
        }
        schema
    }

    fn parameters_schema(&self) -> Value {
        let own: Map<String, Value> = self
            .parameters
            .iter()
            .map(|(name, schema)| ((*name).to_owned(), schema.clone()))
            .collect();
        let is_needed = !self.required.is_empty();
        let mut schema = json!({
            "type": if is_needed { json!("object") } else { json!(["object", "null"]) },
            "description": "Parameters of the condition, and custom data to store with the alert; at most 16 KiB",
            "additionalProperties": {"$ref": "#/components/schemas/Mark"},
            "propertyNames": {"pattern": "^[^\\u0000]*$"},
        });
        if !own.is_empty() {
            schema["properties"] = Value::Object(own);
        }
        if is_needed {
            schema["required"] = json!(self.required);
        }
        schema
    }
}

fn null_only() -> Value {
    json!({"type": "null"})
}

/// Adds the schemas of the bodies.
pub(super) fn describe(schemas: &mut Value) {
    let shapes = shapes();
    for shape in &shapes {
        schemas[shape.name] = shape.schema();
    }
    let refs: Vec<Value> = shapes
        .iter()
        .map(|shape| json!({"$ref": format!("#/components/schemas/{}", shape.name)}))
        .collect();
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
        },
        "examples": [{"notification": "email"}],
    });
}
