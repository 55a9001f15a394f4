//! The arguments of a call, held to the tool's own schema: names and kinds here, what they mean by the use case.

use alerts::AlertId;
use serde_json::{Map, Value};
use service::watchlist::WatchlistItemId;
use uuid::Uuid;

use super::ToolError;
use crate::query::{Query, uuid};

/// What a tool is called with.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Arguments(Map<String, Value>);

/// What has to be said for something to be deleted.
const CONFIRM: &str = "confirm";

impl Arguments {
    /// Those of a call of a tool that takes what this schema has.
    ///
    /// # Errors
    /// [`ToolError::Refused`] with every fault: an unknown name, a missing one, a value of another type.
    pub(super) fn read(schema: &Map<String, Value>, mut given: Map<String, Value>) -> Result<Self, ToolError> {
        let none = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
        // Many agents write null for what they leave out.
        given.retain(|name, value| !value.is_null() || properties.get(name).is_none_or(|known| takes(known, value)));
        let mut faults = Vec::new();
        for (name, value) in &given {
            match properties.get(name) {
                None => {
                    let known: Vec<&str> = properties.keys().map(String::as_str).collect();
                    let known = if known.is_empty() {
                        "none".to_owned()
                    } else {
                        known.join(", ")
                    };
                    faults.push(format!("{name}: is not an argument of this tool; there are {known}"));
                }
                Some(schema) if name != CONFIRM && !takes(schema, value) => {
                    faults.push(format!("{name}: must be {}", kinds(schema).join(" or ")));
                }
                Some(_) => {}
            }
        }
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        let missing = required
            .filter_map(Value::as_str)
            .filter(|name| *name != CONFIRM && !given.contains_key(*name));
        faults.extend(missing.map(|name| format!("{name}: is required")));
        if faults.is_empty() {
            Ok(Self(given))
        } else {
            Err(ToolError::Refused(faults.join(" | ")))
        }
    }

    /// Whether an argument is given.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The id of an alert.
    pub(super) fn alert_id(&self) -> Result<AlertId, ToolError> {
        self.id("alert_id").map(AlertId)
    }

    /// The id of an item of the watchlist.
    pub(super) fn item_id(&self) -> Result<WatchlistItemId, ToolError> {
        self.id("item_id").map(WatchlistItemId)
    }

    fn id(&self, name: &str) -> Result<Uuid, ToolError> {
        let text = self.0.get(name).and_then(Value::as_str).unwrap_or_default();
        let fault =
            || format!("{name}: must be a UUID such as 0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11; the lists show them");
        uuid(text).ok_or_else(|| ToolError::Refused(fault()))
    }

    /// Refuses unless it was said that something is really to be deleted.
    pub(super) fn confirmed(&self) -> Result<(), ToolError> {
        if self.0.get(CONFIRM) == Some(&Value::Bool(true)) {
            return Ok(());
        }
        let text =
            "confirm: must be true, because this cannot be undone; ask the person, then call again with confirm: true";
        Err(ToolError::Refused(text.to_owned()))
    }

    /// As the parameters of a query.
    pub(super) fn query(self) -> Query {
        Query::of_pairs(self.0.into_iter().map(|(name, value)| match value {
            Value::String(text) => (name, text),
            // 5.0 is a whole number, too, and many languages have no other.
            Value::Number(number) => match number.as_f64() {
                Some(number) => (name, number.to_string()),
                None => (name, number.to_string()),
            },
            value => (name, value.to_string()),
        }))
    }

    /// As the body of a request, without the ids that REST has in the path.
    pub(super) fn body(mut self) -> Value {
        self.0
            .retain(|name, _| !matches!(name.as_str(), "alert_id" | "item_id"));
        Value::Object(self.0)
    }
}

/// The kinds of values that a schema takes.
fn kinds(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn takes(schema: &Value, value: &Value) -> bool {
    kinds(schema).into_iter().any(|kind| match kind {
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
    fn arguments_are_held_to_the_names_and_kinds_of_the_schema() {
        for (given, is_taken) in [
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
            assert_eq!(read(given.clone()).is_ok(), is_taken, "{given}");
        }
    }

    #[test]
    fn a_null_is_kept_where_it_says_something_and_left_out_where_it_does_not() {
        let body = read(json!({"alert_id": "a", "limit": null, "threshold": null}))
            .unwrap()
            .body();
        assert_eq!(body, json!({"threshold": null}));
    }

    #[test]
    fn all_faults_are_told_at_once() {
        let Err(ToolError::Refused(text)) = read(json!({"limit": "5", "treshold": 5})) else {
            panic!("taken");
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
    fn nothing_is_deleted_before_true_is_said() {
        for confirm in [json!(false), json!("true"), json!(1), json!(null)] {
            let read = read(json!({"alert_id": "a", "confirm": confirm})).unwrap();
            assert!(matches!(read.confirmed(), Err(ToolError::Refused(_))), "{confirm}");
        }
        assert_eq!(
            read(json!({"alert_id": "a", "confirm": true})).unwrap().confirmed(),
            Ok(())
        );
    }
}
