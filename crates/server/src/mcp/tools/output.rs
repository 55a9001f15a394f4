//! The schemas of what tools answer: those that the OpenAPI document has for the same data.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use crate::document::Document;

static SCHEMAS: LazyLock<Value> = LazyLock::new(|| Document::value()["components"]["schemas"].take());

/// One thing of the kind that the document has under this name.
pub(super) fn one(name: &str) -> Map<String, Value> {
    finished(json!({"type": "object", "allOf": [reference(name)]}))
}

/// The same, or what waits for the account's owner.
pub(super) fn one_or_waiting(name: &str) -> Map<String, Value> {
    finished(json!({"type": "object", "anyOf": [reference(name), reference("WaitingChange")]}))
}

/// A page of them.
pub(super) fn list(name: &str) -> Map<String, Value> {
    finished(json!({
        "type": "object",
        "properties": {
            "items": {"type": "array", "items": reference(name)},
            "pagination": reference("Pagination"),
        },
        "required": ["items", "pagination"],
    }))
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// The same with all that it refers to.
fn finished(mut schema: Value) -> Map<String, Value> {
    let mut definitions = Map::new();
    settle(&mut schema, &mut definitions);
    schema["$defs"] = Value::Object(definitions);
    match schema {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// Turns what is referred to into definitions of its own.
fn settle(schema: &mut Value, definitions: &mut Map<String, Value>) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::String(target)) = members.get_mut("$ref") {
                let name = target.trim_start_matches("#/components/schemas/").to_owned();
                *target = format!("#/$defs/{name}");
                if !definitions.contains_key(&name) {
                    definitions.insert(name.clone(), Value::Null);
                    let mut definition = SCHEMAS[&name].clone();
                    settle(&mut definition, definitions);
                    definitions.insert(name, definition);
                }
            }
            members.values_mut().for_each(|member| settle(member, definitions));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| settle(value, definitions)),
        _ => {}
    }
}
