//! The bodies that make and change alerts: a schema for each kind of condition, and an example for each condition.
//!
//! The service reads them by itself (`alerts::request`), so nothing here is generated. The tests send what the schemas
//! allow, and what lies just beyond, through that reader.

mod examples;
pub(crate) mod guide;
mod shapes;
#[cfg(test)]
mod tests;

use alerts::ConditionKind as Kind;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

pub(super) use examples::exemplify;
use shapes::{Shape, Threshold, optional, shapes};

/// What an alert is to wait for.
#[derive(Debug, ToSchema)]
pub struct CreateAlert {}

/// What is to change about an alert; what is left out stays.
#[derive(Debug, ToSchema)]
pub struct UpdateAlert {}

impl Shape {
    fn schema(&self) -> Value {
        let names: Vec<&str> = self.kinds.iter().map(|kind| kind.name()).collect();
        let mut properties = json!({
            "symbol": {"type": "string", "pattern": "^[A-Za-z0-9.-]{1,10}$", "description": "The stock, in any case"},
            "condition": {"type": "string", "enum": names},
        });
        let mut required = vec!["symbol", "condition"];
        properties["threshold"] = match &self.threshold {
            Threshold::Omitted => json!({"type": "null", "description": "Must be omitted"}),
            Threshold::Ignored(schema) => schema.clone(),
            Threshold::Optional(schema) => optional(schema.clone()),
            Threshold::Required(schema) => {
                required.push("threshold");
                schema.clone()
            }
        };
        properties["notification"] = json!({
            "type": ["string", "null"], "enum": ["email", "sms", null],
            "description": "How to tell you, beside the webhooks; `email` if it is left out. `sms` goes to the account's verified number",
        });
        properties["parameters"] = self.parameters_schema();
        if !self.required.is_empty() {
            required.push("parameters");
        }
        properties["email"] = json!({
            "type": ["string", "null"], "format": "email",
            "description": "Where to tell a guest; an account is told at its own address",
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
            "description": "What the condition takes beside its threshold, and whatever marks of your own you want to keep with the alert; at most 16 KiB",
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

/// Describes the bodies.
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
        "description": "What an alert is to wait for. Which form it takes is decided by `condition`.",
        "oneOf": refs,
    });
    schemas["Mark"] = json!({
        "description": "Anything; nested at most 8 levels deep, and without the character U+0000",
        "anyOf": [
            {"type": ["boolean", "number", "null"]},
            {"type": "string", "pattern": "^[^\\u0000]*$"},
            {"type": "array", "items": {"$ref": "#/components/schemas/Mark"}},
            {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/Mark"}, "propertyNames": {"pattern": "^[^\\u0000]*$"}},
        ],
    });
    schemas["UpdateAlert"] = json!({
        "type": "object",
        "description": "What is to change. The resulting alert must be one that could be created: see CreateAlert for what each condition takes.",
        "properties": {
            "condition": {"anyOf": [{"$ref": "#/components/schemas/ConditionName"}, {"type": "null"}], "description": "Null is as good as leaving it out"},
            "threshold": {"type": ["number", "null"], "minimum": 0, "description": "What the condition takes; null takes it away"},
            "notification": {"anyOf": [{"$ref": "#/components/schemas/ChannelName"}, {"type": "null"}], "description": "Null is as good as leaving it out"},
            "parameters": {
                "type": ["object", "null"],
                "description": "Replaces all of them; null takes them away",
                "additionalProperties": {"$ref": "#/components/schemas/Mark"},
                "propertyNames": {"pattern": "^[^\\u0000]*$"},
            },
        },
        "examples": [{"notification": "email"}],
    });
}
