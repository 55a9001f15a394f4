//! The schemas of options in requests and responses.

use alerts::options::{MAX_FIRINGS, PercentBase, Repeat, SessionScope, TriggerPrice};
use serde_json::{Value, json};

const SPAN: &str = "^[0-9]{1,5}[mhd]$";

/// Returns the schema of the member `options` of a request.
pub(super) fn reference() -> Value {
    json!({
        "anyOf": [{"$ref": "#/components/schemas/AlertOptions"}, {"type": "null"}],
        "description": "When, how often and for how long the alert fires. Replaced as a whole; null removes all. Not for guests",
    })
}

/// Returns the schema of options. Unknown names are errors.
pub(super) fn schema() -> Value {
    let span = |description: &str| json!({"type": ["string", "null"], "pattern": SPAN, "description": description});
    let flag = |description: &str| json!({"type": ["boolean", "null"], "description": description});
    let instant = |description: &str| json!({"type": ["string", "null"], "maxLength": 40, "description": description});
    let names = |names: Vec<&str>, description: &str| {
        let names: Vec<Value> = names.into_iter().map(Value::from).chain([Value::Null]).collect();
        json!({"type": ["string", "null"], "enum": names, "description": description})
    };
    let all = |repeats: &[Repeat]| repeats.iter().map(|repeat| repeat.name()).collect();
    let trigger = TriggerPrice::ALL;
    let trigger: Vec<&str> = trigger.iter().map(|trigger| trigger.name()).collect();
    json!({
        "type": "object",
        "description": "Options of an alert; all are optional",
        "additionalProperties": false,
        "properties": {
            "repeat": names(all(Repeat::ALL), "How often the alert fires; default `once`. With the others it stays active"),
            "cooldown": span("The calendar time after a firing in which the alert does not fire again, 1m to 30d"),
            "cooldown_refire": flag("Whether a condition that held throughout the cooldown fires at its end. Not with `repeat` `once`"),
            "rearm": {
                "type": ["object", "null"],
                "description": "The level to which the metric must return before the alert can fire again",
                "additionalProperties": false,
                "minProperties": 1,
                "maxProperties": 1,
                "properties": {
                    "at": {"type": "number", "description": "A level in the unit of the metric"},
                    "percent": {"type": "number", "exclusiveMinimum": 0, "maximum": 100, "description": "A distance in percent of the level"},
                },
            },
            "hold": span("The session time for which the condition must be true without interruption, 1m to 5d; a day has 390 minutes"),
            "expires_at": instant("A date or date-time; then the alert becomes inactive. A date ends with its day in New York"),
            "notify_on_expiry": flag("Whether the owner is notified of the expiry"),
            "snoozed_until": instant("A date-time until which the alert is not judged; one in the past counts as omitted"),
            "session": names(SessionScope::ALL.iter().map(|session| session.name()).collect(), "The trading hours in which the alert is judged. With `extended` also before the open from 04:00, and after the close to 20:00 New York, if the source delivers quotes then; not with trigger `close`"),
            "trigger": names(trigger, "The price that is judged; with `two_lasts` the condition must be true at two observations in a row. `bid`, `ask` and `mid` need a condition with a price"),
            "base": names(PercentBase::ALL.iter().map(|base| base.name()).collect(), "What a percent change is measured from; default `creation`. Only for `price_change_…` and for expressions with `change_pct` without a base"),
            "max_firings": {"type": ["integer", "null"], "minimum": 1, "maximum": MAX_FIRINGS, "description": "The number of firings after which the alert is triggered"},
        },
        "examples": [{"repeat": "each_time", "cooldown": "1h", "expires_at": "2027-01-31"}],
    })
}

/// Returns the schema of the member `snooze`.
pub(super) fn snooze() -> Value {
    json!({
        "type": ["string", "null"],
        "pattern": "^(next_open|[0-9]{1,5}[mhd])$",
        "description": "A duration such as `2h`, or `next_open`: sets `options.snoozed_until`. Null ends the snooze",
    })
}
