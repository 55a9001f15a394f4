//! Generates an example from a schema.

use serde_json::{Map, Value, json};

use super::handwritten;

/// The maximum nesting depth of an example.
const MAX_DEPTH: usize = 32;

/// Fields that are null in the normal state. An example with values for them would be inconsistent.
const NULL_IN_EXAMPLES: [&str; 4] = ["disabled_at", "disabled_reason", "failing_since", "reason"];

/// Generates examples from the schemas of a document.
pub(super) struct Composer<'a> {
    schemas: &'a Value,
}

impl<'a> Composer<'a> {
    /// Creates a composer from the document's `components.schemas`.
    pub(super) const fn new(schemas: &'a Value) -> Self {
        Self { schemas }
    }

    /// Returns an example that is valid for the schema.
    pub(super) fn example(&self, schema: &Value) -> Value {
        self.field("", schema, 0)
    }

    /// Returns the example of the field `name`.
    fn field(&self, name: &str, schema: &Value, depth: usize) -> Value {
        if NULL_IN_EXAMPLES.contains(&name) && allows_null(schema) {
            return Value::Null;
        }
        if let Some(example) = schema.get("example").or_else(|| schema["examples"].get(0)) {
            return example.clone();
        }
        if let Some(constant) = schema.get("const") {
            return constant.clone();
        }
        if depth > MAX_DEPTH {
            return Value::Null;
        }
        if let Some(reference) = schema["$ref"].as_str() {
            let schema_name = reference.rsplit('/').next().unwrap_or_default();
            if let Some(example) = handwritten::part(schema_name) {
                return example;
            }
            return self.field(name, &self.schemas[schema_name], depth + 1);
        }
        if let Some(default) = schema.get("default").filter(|default| !default.is_null()) {
            return default.clone();
        }
        if let Some(word) = schema["enum"]
            .as_array()
            .and_then(|words| words.iter().find(|word| !word.is_null()))
        {
            return word.clone();
        }
        for combined in ["oneOf", "anyOf"] {
            if let Some(options) = schema[combined].as_array() {
                let option = options.iter().find(|option| option["type"] != "null");
                return option.map_or(Value::Null, |option| self.field(name, option, depth + 1));
            }
        }
        if let Some(parts) = schema["allOf"].as_array() {
            let parts = parts.iter().map(|part| self.field(name, part, depth + 1));
            let members = parts.filter_map(|part| match part {
                Value::Object(members) => Some(members),
                _ => None,
            });
            return Value::Object(members.flatten().collect());
        }
        self.typed(name, schema, depth)
    }

    fn typed(&self, name: &str, schema: &Value, depth: usize) -> Value {
        let types = match &schema["type"] {
            Value::Array(types) => types.iter().find(|one| **one != "null").cloned().unwrap_or_default(),
            one => one.clone(),
        };
        match types.as_str().unwrap_or_default() {
            "object" => {
                let properties = schema["properties"].as_object().into_iter().flatten();
                let members: Map<String, Value> = properties
                    .map(|(name, property)| (name.clone(), self.field(name, property, depth + 1)))
                    .collect();
                Value::Object(members)
            }
            "array" => {
                let item = self.field(name, &schema["items"], depth + 1);
                let count = schema["minItems"].as_u64().unwrap_or(1).max(1);
                (0..count).map(|_| item.clone()).collect()
            }
            "boolean" => json!(true),
            "integer" | "number" => schema.get("minimum").cloned().unwrap_or(json!(1)),
            "string" => json!(text(name, schema["format"].as_str().unwrap_or_default())),
            _ => Value::Null,
        }
    }
}

fn allows_null(schema: &Value) -> bool {
    let types = schema["type"].as_array().into_iter().flatten();
    let options = schema["oneOf"].as_array().into_iter().flatten();
    types
        .chain(options.map(|option| &option["type"]))
        .any(|one| *one == "null")
}

/// Returns the example of a string field without its own example.
fn text(name: &str, format: &str) -> &'static str {
    match (name, format) {
        (_, "uuid") => handwritten::ID,
        (_, "date-time") => handwritten::INSTANT,
        (_, "date") => "2026-03-02",
        (_, "email") => "ann@example.com",
        ("current_password", _) => "correct horse",
        (_, "password") => "correct horse battery staple",
        ("redirect_uri" | "redirect_uris", _) => "https://app.example.com/callback",
        (_, "uri") => "https://example.com/hooks/bellwether",
        ("scope" | "scopes_supported", _) => "alerts:read",
        ("grant_types", _) => "authorization_code",
        ("response_types", _) => "code",
        ("client_id", _) => "0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11",
        ("secret", _) => "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=",
        ("notes", _) => "Buy below the 200-day average",
        ("summary", _) => "AAPL is at 198.66, 2.1% above its 50-day average.",
        ("html", _) => "<p>Your alert fired.</p>",
        ("response", _) => "ok",
        ("kid", _) => "2026-03",
        ("x", _) => "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
        ("resource", _) => "https://alerts.example.com/mcp",
        ("service_documentation" | "resource_documentation", _) => "https://alerts.example.com/docs",
        ("message", _) => "Check your email and follow the link.",
        _ => "text",
    }
}
