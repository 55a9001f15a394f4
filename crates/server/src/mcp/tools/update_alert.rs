//! `update_alert`

use serde_json::json;
use service::approvals::AgentChange;

use super::arguments::Arguments;
use super::{ToolDefinition, ToolEffect, ToolError, output_schema};

pub(super) fn definition() -> ToolDefinition {
    let conditions: Vec<&str> = alerts::ConditionKind::ALL.iter().map(|kind| kind.name()).collect();
    ToolDefinition {
        title: "Update an alert",
        description:
            "Updates an alert; omitted arguments keep their values. A new condition needs its own threshold and \
                      parameters in the same call, as in create_alert. An active alert is rearmed and may fire \
                      immediately; its initial_price stays. The stock cannot be changed."
                .to_owned(),
        effect: ToolEffect::Destroys,
        arguments: json!({
            "alert_id": {"type": "string", "format": "uuid", "description": "The alert's id, from list_alerts"},
            "condition": {"type": "string", "enum": conditions, "description": "The new condition; it needs its own threshold and parameters"},
            "threshold": {"type": ["number", "null"], "minimum": 0, "description": "In the condition's unit; null removes it"},
            "notification": {"type": "string", "enum": ["email", "sms"], "description": "The notification channel"},
            "parameters": {"type": ["object", "null"], "description": "Replaces all parameters, with the fields of create_alert; null removes them"},
        }),
        required: &["alert_id"],
        output: output_schema::one_or_waiting("Alert"),
    }
}

pub(super) fn change(arguments: Arguments) -> Result<AgentChange, ToolError> {
    Ok(AgentChange::UpdateAlert(arguments.alert_id()?, arguments.body()))
}
