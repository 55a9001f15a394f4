//! The JSON Schema of a file of alerts, for editors.

use alerts::options::{MAX_FIRINGS, PercentBase, Repeat, SessionScope, TriggerPrice};
use alerts::{ConditionKind, MAX_MANAGED_NAME_CHARACTERS};
use serde_json::{Value, json};

/// Returns the JSON Schema of a file of alerts.
#[must_use]
pub fn file_schema() -> Value {
    let conditions: Vec<&str> = ConditionKind::ALL.iter().map(|kind| kind.name()).collect();
    let mut alert = json!({
        "name": {
            "type": "string", "minLength": 1, "maxLength": MAX_MANAGED_NAME_CHARACTERS,
            "description": "The name, unique in the set of files. An alert with another name is another alert",
        },
        "condition": {"enum": conditions, "description": "One of the conditions of the API; or give `when`"},
        "threshold": {"description": "The threshold of the condition", "anyOf": [{"type": "number"}, variable()]},
        "parameters": {"type": "object", "description": "The parameters of the condition"},
        "when": {
            "type": "string", "minLength": 1, "maxLength": 1000,
            "description": "An expression, such as `price < 180 and rsi(14) < 30`", "examples": ["price < 180 and rsi(14) < 30"],
        },
        "expect": {
            "type": "object",
            "description": "What `bellwether test` checks",
            "additionalProperties": false,
            "properties": {
                "fires_on": dates("The days on which the alert fires"),
                "silent_on": dates("The days on which the alert does not fire"),
                "at_most_per_year": {"type": "number", "minimum": 0, "description": "The largest number of firings in a year"},
                "at_least_per_year": {"type": "number", "minimum": 0, "description": "The smallest number of firings in a year"},
            },
        },
    });
    let shared = shared_properties();
    extend(&mut alert, &shared);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Bellwether alerts",
        "description": "A file of alerts for `bellwether plan`, `apply` and `test`",
        "type": "object",
        "additionalProperties": false,
        "required": ["version", "alerts"],
        "properties": {
            "version": {"const": 1, "description": "The version of the format"},
            "defaults": {
                "type": ["object", "null"],
                "description": "Keys of all alerts of this file that do not have them. Options are combined one by one",
                "additionalProperties": false,
                "properties": shared,
            },
            "alerts": {
                "type": ["array", "null"],
                "items": {
                    "type": "object",
                    "additionalProperties": false,
                    "required": ["name"],
                    "oneOf": [{"required": ["when"]}, {"required": ["condition"]}],
                    "not": {"required": ["symbol", "scope"]},
                    "properties": alert,
                },
            },
        },
    })
}

/// Returns the keys that an alert and `defaults` can have.
fn shared_properties() -> Value {
    json!({
        "symbol": {"type": "string", "description": "The ticker symbol", "examples": ["AAPL"]},
        "scope": {
            "type": "object",
            "description": "Many stocks: `symbols`, or the `watchlist` that the alert follows",
            "additionalProperties": false,
            "minProperties": 1,
            "maxProperties": 1,
            "properties": {
                "symbols": {"type": "array", "minItems": 1, "items": {"type": "string"}},
                "watchlist": {"enum": ["all", "buy", "sell"]},
            },
        },
        "options": options(),
        "notify": {
            "description": "How the owner is notified; default `email`",
            "anyOf": [
                {"enum": ["email", "sms"]},
                {
                    "type": "object",
                    "additionalProperties": false,
                    "properties": {
                        "by": {"enum": ["email", "sms"]},
                        "channels": {"type": "array", "items": {"type": "string"}, "description": "Names or ids of notification channels"},
                        "policy": {"enum": ["all", "failover"]},
                        "ack_timeout": {"type": "string", "pattern": "^[0-9]{1,4}[mhd]$"},
                        "urgent": {"type": "boolean", "description": "Messages do not wait for the end of quiet hours"},
                    },
                },
            ],
        },
        "note": {"type": "string", "maxLength": 2000, "description": "Shown in every notification"},
        "tags": {"type": "array", "maxItems": 20, "items": {"type": "string", "maxLength": 40}},
    })
}

fn options() -> Value {
    let span =
        |description: &str| json!({"type": "string", "pattern": "^[0-9]{1,5}[mhd]$", "description": description});
    let repeat: Vec<&str> = Repeat::ALL.iter().map(|repeat| repeat.name()).collect();
    let session: Vec<&str> = SessionScope::ALL.iter().map(|session| session.name()).collect();
    let trigger: Vec<&str> = TriggerPrice::ALL.iter().map(|trigger| trigger.name()).collect();
    let base: Vec<&str> = PercentBase::ALL.iter().map(|base| base.name()).collect();
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "repeat": {"enum": repeat, "description": "How often the alert fires; default `once`"},
            "cooldown": span("The time after a firing in which the alert does not fire again, 1m to 30d"),
            "cooldown_refire": {"type": "boolean", "description": "Whether a condition that held throughout the cooldown fires at its end"},
            "rearm": {
                "type": "object",
                "additionalProperties": false,
                "minProperties": 1,
                "maxProperties": 1,
                "properties": {"at": {"type": "number"}, "percent": {"type": "number", "exclusiveMinimum": 0, "maximum": 100}},
            },
            "hold": span("The session time for which the condition must be true, 1m to 5d"),
            "expires_at": {"type": "string", "description": "A date or date-time; then the alert becomes inactive"},
            "notify_on_expiry": {"type": "boolean"},
            "snoozed_until": {"type": "string", "description": "A date-time until which the alert is not judged"},
            "session": {"enum": session},
            "trigger": {"enum": trigger, "description": "The price that is judged; default `last`"},
            "base": {"enum": base, "description": "What a percent change is measured from; default `creation`"},
            "max_firings": {"type": "integer", "minimum": 1, "maximum": MAX_FIRINGS},
        },
    })
}

fn dates(description: &str) -> Value {
    json!({
        "type": "array",
        "description": description,
        "items": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
    })
}

/// A variable of the environment without quotes, such as `${LEVEL}`, is a text for an editor.
fn variable() -> Value {
    json!({"type": "string", "pattern": "\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}"})
}

fn extend(properties: &mut Value, more: &Value) {
    if let (Value::Object(properties), Value::Object(more)) = (properties, more) {
        properties.extend(more.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declaration::{ALERT_KEYS, DEFAULT_KEYS, EXPECT_KEYS, FILE_KEYS, NOTIFY_KEYS};

    fn keys(schema: &Value) -> Vec<&str> {
        let mut keys: Vec<&str> = schema["properties"]
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        keys.sort_unstable();
        keys
    }

    fn sorted<'a>(names: &[&'a str]) -> Vec<&'a str> {
        let mut names = names.to_vec();
        names.sort_unstable();
        names
    }

    #[test]
    fn keys_are_those_that_the_program_reads() {
        let schema = file_schema();
        let alert = &schema["properties"]["alerts"]["items"];
        let defaults = &schema["properties"]["defaults"];
        assert_eq!(keys(&schema), sorted(FILE_KEYS));
        assert_eq!(keys(alert), sorted(ALERT_KEYS));
        assert_eq!(keys(defaults), sorted(DEFAULT_KEYS));
        assert_eq!(keys(&alert["properties"]["expect"]), sorted(EXPECT_KEYS));
        assert_eq!(keys(&alert["properties"]["notify"]["anyOf"][1]), sorted(NOTIFY_KEYS));
    }
}
