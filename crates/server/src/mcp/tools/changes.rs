//! The tools that change data, except `create_alert`. Each takes the arguments of an `AgentChange`.

use serde_json::{Value, json};
use watchlist::Intention;

use super::reads::alert_id;
use super::{OutputSchema, ToolDefinition, ToolEffect};
use crate::document::alert_body::routing;

fn confirm() -> Value {
    json!({"type": "boolean", "const": true, "description": "Must be true: the user confirms the deletion"})
}

pub(super) fn update_alert() -> ToolDefinition {
    let conditions: Vec<&str> = alerts::ConditionKind::ALL.iter().map(|kind| kind.name()).collect();
    let mut arguments = json!({
        "alert_id": alert_id(),
        "condition": {"type": "string", "enum": conditions, "description": "The new condition; it needs its own threshold and parameters"},
        "threshold": {"type": ["number", "null"], "minimum": 0, "description": "In the condition's unit; null removes it"},
        "notification": {"type": "string", "enum": ["email", "sms"], "description": "The notification channel"},
        "parameters": {"type": ["object", "null"], "description": "Replaces all parameters, with the fields of create_alert; null removes them"},
        "note": {"type": ["string", "null"], "maxLength": 2000, "description": "Replaces the note; null removes it"},
        "tags": {"type": ["array", "null"], "items": {"type": "string"}, "description": "Replaces all tags; null removes them"},
        "options": {"type": ["object", "null"], "description": "Replaces all options of create_alert; null removes them"},
        "snooze": {"type": ["string", "null"], "description": "A duration such as 2h, or next_open; null ends the snooze"},
    });
    routing::add_to_arguments(&mut arguments);
    ToolDefinition {
        title: "Update an alert",
        description:
            "Updates an alert; omitted arguments keep their values. A new condition needs its own threshold and \
                      parameters in the same call, as in create_alert. An active alert is rearmed and may fire \
                      immediately; its initial_price stays. The stock cannot be changed."
                .to_owned(),
        effect: ToolEffect::Destroys,
        arguments,
        required: &["alert_id"],
        output: OutputSchema::or_waiting("Alert"),
    }
}

pub(super) fn pause_alert() -> ToolDefinition {
    ToolDefinition {
        title: "Pause an alert",
        description:
            "Pauses an active alert: it is not evaluated until resume_alert. A paused alert stays paused; any other \
                      alert cannot be paused."
                .to_owned(),
        effect: ToolEffect::Adds,
        arguments: json!({"alert_id": alert_id()}),
        required: &["alert_id"],
        output: OutputSchema::or_waiting("PausedAlert"),
    }
}

pub(super) fn resume_alert() -> ToolDefinition {
    ToolDefinition {
        title: "Resume an alert",
        description:
            "Activates a paused, inactive or triggered alert; percentages count from the current price. An active \
                      alert is unchanged. Without a price of its stock, the call fails; try again later."
                .to_owned(),
        effect: ToolEffect::Adds,
        arguments: json!({"alert_id": alert_id()}),
        required: &["alert_id"],
        output: OutputSchema::or_waiting("ActivatedAlert"),
    }
}

pub(super) fn delete_alert() -> ToolDefinition {
    ToolDefinition {
        title: "Delete an alert",
        description: "Deletes an alert permanently; its events stay readable. To stop it temporarily, use pause_alert."
            .to_owned(),
        effect: ToolEffect::Destroys,
        arguments: json!({
            "alert_id": alert_id(),
            "confirm": confirm(),
        }),
        required: &["alert_id", "confirm"],
        output: OutputSchema::or_waiting("DeletedAlert"),
    }
}

pub(super) fn create_watchlist_item() -> ToolDefinition {
    let intentions: Vec<&str> = Intention::ALL.iter().map(|intention| intention.name()).collect();
    ToolDefinition {
        title: "Add a stock to the watchlist",
        description: "Adds a stock to the watchlist and opens a simulated trade of 1,000 US dollars: long for buy, short for \
                      sell. On paid plans the analyst creates alerts that fit the intention. A stock that is already on the \
                      watchlist is rejected."
            .to_owned(),
        effect: ToolEffect::Adds,
        arguments: json!({
            "stock_symbol": {"type": "string", "pattern": "^[A-Za-z0-9.-]{1,10}$", "description": "The stock's ticker symbol, such as AAPL"},
            "stock_name": {"type": "string", "minLength": 1, "maxLength": 200, "description": "The company's name, for a stock that is not in the catalog"},
            "intention": {"type": "string", "enum": intentions, "description": "The planned action"},
            "target_price": {"type": "number", "exclusiveMinimum": 0, "maximum": 1_000_000_000, "description": "The target price in US dollars"},
            "notes": {"type": "string", "maxLength": 2000, "description": "Reasons and other notes"},
        }),
        required: &["stock_symbol", "intention"],
        output: OutputSchema::or_waiting("WatchlistItem"),
    }
}

pub(super) fn delete_watchlist_item() -> ToolDefinition {
    ToolDefinition {
        title: "Remove a stock from the watchlist",
        description:
            "Deletes a watchlist item permanently. Its simulated trade is closed and stays in the performance. Alerts \
                      that the analyst created for it are deleted; other alerts stay."
                .to_owned(),
        effect: ToolEffect::Destroys,
        arguments: json!({
            "item_id": {"type": "string", "format": "uuid", "description": "The item's id, from list_watchlist"},
            "confirm": confirm(),
        }),
        required: &["item_id", "confirm"],
        output: OutputSchema::or_waiting("DeletedWatchlistItem"),
    }
}
