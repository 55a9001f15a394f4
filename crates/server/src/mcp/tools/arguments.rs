//! The arguments of a tool call. Names and types are validated against the tool's schema; the use case validates the values.

use alerts::AlertId;
use serde_json::{Map, Value};
use uuid::Uuid;
use watchlist::WatchlistItemId;

use super::ToolError;
use crate::query::{Query, uuid};

/// The arguments of a tool call.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Arguments(Map<String, Value>);

/// The argument that confirms a deletion.
const CONFIRM: &str = "confirm";

impl Arguments {
    /// Validates arguments against a schema.
    ///
    /// # Errors
    /// [`ToolError::Refused`] with all problems: unknown names, missing names, values of another type.
    pub(super) fn read(schema: &Map<String, Value>, mut given: Map<String, Value>) -> Result<Self, ToolError> {
        let none = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
        // Many agents send null for omitted arguments.
        given.retain(|name, value| !value.is_null() || properties.get(name).is_none_or(|known| accepts(known, value)));
        let mut problems = Vec::new();
        for (name, value) in &given {
            match properties.get(name) {
                None => {
                    let known: Vec<&str> = properties.keys().map(String::as_str).collect();
                    let known = if known.is_empty() {
                        "none".to_owned()
                    } else {
                        known.join(", ")
                    };
                    problems.push(format!(
                        "{name}: is not an argument of this tool; its arguments are {known}"
                    ));
                }
                Some(schema) if name != CONFIRM && !accepts(schema, value) => {
                    problems.push(format!("{name}: must be {}", types(schema).join(" or ")));
                }
                Some(_) => {}
            }
        }
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        let missing = required
            .filter_map(Value::as_str)
            .filter(|name| *name != CONFIRM && !given.contains_key(*name));
        problems.extend(missing.map(|name| format!("{name}: is required")));
        if problems.is_empty() {
            Ok(Self(given))
        } else {
            Err(ToolError::Refused(problems.join(" | ")))
        }
    }

    /// Returns `true` if the argument is present.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Returns `true` if the argument is this text.
    pub(super) fn is(&self, name: &str, text: &str) -> bool {
        self.0.get(name).and_then(Value::as_str) == Some(text)
    }

    /// Removes a boolean argument and returns it; `false` if it is missing.
    pub(super) fn take_flag(&mut self, name: &str) -> bool {
        self.0.shift_remove(name) == Some(Value::Bool(true))
    }

    /// Moves an argument into the object that is another argument.
    ///
    /// # Errors
    /// If the object has a member of that name already.
    pub(super) fn move_into(&mut self, name: &str, object: &str) -> Result<(), ()> {
        let Some(value) = self.0.shift_remove(name) else {
            return Ok(());
        };
        let target = self.0.entry(object).or_insert_with(|| Value::Object(Map::new()));
        match target.as_object_mut() {
            Some(members) if !members.contains_key(name) => {
                members.insert(name.to_owned(), value);
                Ok(())
            }
            _ => Err(()),
        }
    }

    /// Returns the id of an alert.
    pub(super) fn alert_id(&self) -> Result<AlertId, ToolError> {
        self.id("alert_id").map(AlertId)
    }

    /// Returns the id of a watchlist item.
    pub(super) fn item_id(&self) -> Result<WatchlistItemId, ToolError> {
        self.id("item_id").map(WatchlistItemId)
    }

    fn id(&self, name: &str) -> Result<Uuid, ToolError> {
        let text = self.0.get(name).and_then(Value::as_str).unwrap_or_default();
        let message = || {
            format!("{name}: must be a UUID such as 0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11, from one of the list tools")
        };
        uuid(text).ok_or_else(|| ToolError::Refused(message()))
    }

    /// Returns the id of what to delete, or an error unless the deletion is confirmed.
    pub(super) fn confirmed<T>(&self, id: fn(&Self) -> Result<T, ToolError>) -> Result<T, ToolError> {
        let id = id(self)?;
        if self.0.get(CONFIRM) == Some(&Value::Bool(true)) {
            return Ok(id);
        }
        let text =
            "confirm: must be true, because this cannot be undone; ask the person, then call again with confirm: true";
        Err(ToolError::Refused(text.to_owned()))
    }

    /// Converts the arguments to query parameters.
    pub(super) fn query(self) -> Query {
        Query::from_pairs(self.0.into_iter().map(|(name, value)| match value {
            Value::String(text) => (name, text),
            // 5.0 is an integer too. Many languages have only floating-point numbers.
            Value::Number(number) => match number.as_f64() {
                Some(number) => (name, number.to_string()),
                None => (name, number.to_string()),
            },
            value => (name, value.to_string()),
        }))
    }

    /// Converts the arguments to a request body, without the ids that REST has in the path.
    pub(super) fn body(mut self) -> Value {
        self.0
            .retain(|name, _| !matches!(name.as_str(), "alert_id" | "item_id"));
        Value::Object(self.0)
    }
}

/// Returns the value types that a schema accepts.
fn types(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn accepts(schema: &Value, value: &Value) -> bool {
    types(schema).into_iter().any(|kind| match kind {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        _ => value.is_null(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(given: Value) -> Result<Arguments, ToolError> {
        let schema = json!({
            "properties": {
                "alert_id": {"type": "string"},
                "limit": {"type": "integer"},
                "threshold": {"type": ["number", "null"]},
                "confirm": {"type": "boolean"},
            },
            "required": ["alert_id", "confirm"],
        });
        Arguments::read(schema.as_object().unwrap(), given.as_object().unwrap().clone())
    }

    #[test]
    fn validates_names_and_types_against_the_schema() {
        for (given, is_accepted) in [
            (json!({"alert_id": "a"}), true),
            (json!({"alert_id": "a", "limit": 5}), true),
            (json!({"alert_id": "a", "limit": 5.0}), true),
            (json!({"alert_id": "a", "limit": null}), true),
            (json!({"alert_id": "a", "limit": 5.5}), false),
            (json!({"alert_id": "a", "limit": "5"}), false),
            (json!({"alert_id": 5}), false),
            (json!({"alert_id": null}), false),
            (json!({}), false),
            (json!({"alert_id": "a", "treshold": 5}), false),
        ] {
            assert_eq!(read(given.clone()).is_ok(), is_accepted, "{given}");
        }
    }

    #[test]
    fn null_is_kept_only_if_the_schema_allows_it() {
        let body = read(json!({"alert_id": "a", "limit": null, "threshold": null}))
            .unwrap()
            .body();
        assert_eq!(body, json!({"threshold": null}));
    }

    #[test]
    fn error_lists_all_problems() {
        let Err(ToolError::Refused(text)) = read(json!({"limit": "5", "treshold": 5})) else {
            panic!("accepted");
        };
        for part in [
            "alert_id: is required",
            "limit: must be integer",
            "treshold: is not an argument",
            "threshold",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn deletion_requires_confirm_true() {
        for confirm in [json!(false), json!("true"), json!(1), json!(null)] {
            let read = read(json!({"alert_id": "a", "confirm": confirm})).unwrap();
            assert!(
                matches!(read.confirmed(|_| Ok(())), Err(ToolError::Refused(_))),
                "{confirm}"
            );
        }
        assert_eq!(
            read(json!({"alert_id": "a", "confirm": true}))
                .unwrap()
                .confirmed(|_| Ok(())),
            Ok(())
        );
    }
}
