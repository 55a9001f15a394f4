//! `update_alert`

use serde_json::json;
use service::approvals::AgentChange;

use super::arguments::Arguments;
use super::{Definition, Effect, ToolError, output};

pub(super) fn definition() -> Definition {
    let conditions: Vec<&str> = alerts::ConditionKind::ALL.iter().map(|kind| kind.name()).collect();
    Definition {
        title: "Update an alert",
        description: "Changes an alert; what is left out keeps its value. A new condition needs its own threshold and \
                      parameters in the same call, as create_alert takes them. An active alert is armed anew and may fire \
                      at once; its initial_price stays. The stock cannot be changed."
            .to_owned(),
        effect: Effect::Destroys,
        arguments: json!({
            "alert_id": {"type": "string", "format": "uuid", "description": "The alert's id, from list_alerts"},
            "condition": {"type": "string", "enum": conditions, "description": "The new condition; it needs its own threshold and parameters"},
            "threshold": {"type": ["number", "null"], "minimum": 0, "description": "In the condition's unit; null removes it"},
            "notification": {"type": "string", "enum": ["email", "sms"], "description": "How to notify the owner"},
            "parameters": {"type": ["object", "null"], "description": "Replaces all parameters, with members as for create_alert; null removes them"},
        }),
        required: &["alert_id"],
        output: output::one_or_waiting("Alert"),
    }
}

pub(super) fn change(arguments: Arguments) -> Result<AgentChange, ToolError> {
    Ok(AgentChange::UpdateAlert(arguments.alert_id()?, arguments.body()))
}
