//! The output schemas of tools.
//!
//! The schemas are derived from the OpenAPI document, so they always match the data. Clients put them into the context of a
//! language model. So each schema has only the names and types of fields, without descriptions, formats, enumerations and
//! nested objects.

use serde_json::{Map, Value, json};

use super::tool_output::{ALIASES, LEFT_OUT};

/// The output of a tool, in terms of the components of the OpenAPI document.
#[derive(Clone, Debug)]
pub(super) enum OutputSchema {
    /// An object with added optional fields.
    ObjectWith(&'static str, Value),
    /// An object with added fields, or a change that waits for the owner's approval, or another object with one of some fields.
    ObjectOrWaiting(&'static str, Value, &'static [&'static str]),
    /// A page of objects.
    List(&'static str),
}

impl OutputSchema {
    /// Returns an object, or a change that waits for the owner's approval.
    pub(super) fn or_waiting(name: &'static str) -> Self {
        Self::ObjectOrWaiting(name, json!({}), &[])
    }

    /// Returns the JSON schema. `schemas` are the schemas of the OpenAPI document's components.
    pub(super) fn resolve(&self, schemas: &Value) -> Map<String, Value> {
        match self {
            Self::ObjectWith(name, added) => object_with(object(schemas, &schemas[name]), added),
            Self::ObjectOrWaiting(name, added, others) => {
                object_or_waiting(object(schemas, &schemas[name]), added, others)
            }
            Self::List(name) => page(object(schemas, &schemas[name])),
        }
    }
}

fn object_with(mut one: Map<String, Value>, added: &Value) -> Map<String, Value> {
    for (name, schema) in added.as_object().into_iter().flatten() {
        one["properties"][name] = schema.clone();
    }
    one
}

fn object_or_waiting(mut one: Map<String, Value>, added: &Value, others: &[&str]) -> Map<String, Value> {
    let added = added.as_object().into_iter().flatten();
    for (name, schema) in added {
        one["properties"][name] = schema.clone();
        if let Some(required) = one["required"].as_array_mut() {
            required.push(json!(name));
        }
    }
    let required = one.remove("required").unwrap_or_default();
    if let Some(Value::Object(properties)) = one.get_mut("properties") {
        let waiting = json!({
            "waits_for_approval": {"type": "boolean"},
            "approval": {"type": "object"},
            "approve_at": {"type": "string"},
            "message": {"type": "string"},
        });
        properties.extend(waiting.as_object().cloned().unwrap_or_default());
        properties.extend(
            others
                .iter()
                .map(|name| ((*name).to_owned(), json!({"type": "object"}))),
        );
    }
    let mut alternatives = vec![
        json!({"required": required}),
        json!({"required": ["waits_for_approval"]}),
    ];
    alternatives.extend(others.iter().map(|name| json!({"required": [name]})));
    one.insert("anyOf".to_owned(), Value::Array(alternatives));
    one
}

fn page(item: Map<String, Value>) -> Map<String, Value> {
    let item = Value::Object(item);
    let schema = json!({
        "type": "object",
        "properties": {
            "items": {"type": "array", "items": item},
            "pagination": {"type": "object"},
        },
        "required": ["items", "pagination"],
    });
    schema.as_object().cloned().unwrap_or_default()
}

/// Returns the schema of an object with the types of its fields.
fn object(schemas: &Value, schema: &Value) -> Map<String, Value> {
    let (properties, required) = members(schemas, schema);
    let mut object = Map::new();
    object.insert("type".to_owned(), json!("object"));
    object.insert("properties".to_owned(), Value::Object(properties));
    object.insert("required".to_owned(), json!(required));
    object
}

/// Returns the fields of all parts of a schema, and the required ones. A field of alternatives is required only if all
/// alternatives require it.
fn members(schemas: &Value, schema: &Value) -> (Map<String, Value>, Vec<String>) {
    let schema = resolved(schemas, schema);
    let mut properties = Map::new();
    let mut required: Vec<String> = Vec::new();
    for part in list_of(schema, "allOf") {
        let (more, needed) = members(schemas, part);
        properties.extend(more);
        required.extend(needed);
    }
    let alternatives = list_of(schema, "oneOf").chain(list_of(schema, "anyOf"));
    let mut common: Option<Vec<String>> = None;
    for alternative in alternatives {
        let (more, needed) = members(schemas, alternative);
        properties.extend(more);
        common = Some(match common {
            Some(common) => common.into_iter().filter(|name| needed.contains(name)).collect(),
            None => needed,
        });
    }
    required.extend(common.unwrap_or_default());
    let own = schema["properties"].as_object().into_iter().flatten();
    properties.extend(own.map(|(name, schema)| (name.clone(), json!({"type": kinds(schemas, schema)}))));
    let needed = schema["required"].as_array().into_iter().flatten();
    required.extend(needed.filter_map(Value::as_str).map(str::to_owned));
    for (alias, name) in ALIASES {
        if properties.contains_key(name) {
            properties.shift_remove(alias);
            required.retain(|name| name != alias);
        }
    }
    for name in LEFT_OUT {
        properties.shift_remove(name);
    }
    (properties, required)
}

/// Returns the types of a value: one type as a string, several as a list.
fn kinds(schemas: &Value, schema: &Value) -> Value {
    let schema = resolved(schemas, schema);
    let mut kinds: Vec<Value> = Vec::new();
    match &schema["type"] {
        Value::Array(all) => kinds.extend(all.iter().cloned()),
        Value::String(kind) => kinds.push(json!(kind)),
        _ => {
            let parts = ["allOf", "oneOf", "anyOf"]
                .into_iter()
                .flat_map(|word| list_of(schema, word));
            for part in parts {
                match self::kinds(schemas, part) {
                    Value::Array(all) => kinds.extend(all),
                    kind => kinds.push(kind),
                }
            }
        }
    }
    kinds.dedup();
    match kinds.len() {
        1 => kinds.remove(0),
        _ => Value::Array(kinds),
    }
}

fn list_of<'a>(schema: &'a Value, word: &str) -> impl Iterator<Item = &'a Value> {
    schema[word].as_array().into_iter().flatten()
}

/// Resolves the references of a schema.
fn resolved<'a>(schemas: &'a Value, schema: &'a Value) -> &'a Value {
    match schema["$ref"].as_str() {
        Some(target) => resolved(schemas, &schemas[target.trim_start_matches("#/components/schemas/")]),
        None => schema,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_has_no_aliases() {
        for (alias, name) in ALIASES {
            let schemas = json!({"A": {"properties": {alias: {"type": "object"}, name: {"type": "object"}}, "required": [alias, name]}});
            let schema = OutputSchema::ObjectWith("A", json!({})).resolve(&schemas);
            assert_eq!(schema["properties"], json!({name: {"type": "object"}}));
            assert_eq!(schema["required"], json!([name]));
        }
    }
}
