//! `resume_alert`

use serde_json::json;
use service::approvals::AgentChange;

use super::arguments::Arguments;
use super::{ToolDefinition, ToolEffect, ToolError, output_schema};

pub(super) fn definition() -> ToolDefinition {
    ToolDefinition {
        title: "Resume an alert",
        description:
            "Activates a paused, inactive or triggered alert; percentages count from the current price. An active \
                      alert is unchanged. Without a price of its stock, the call fails; try again later."
                .to_owned(),
        effect: ToolEffect::Adds,
        arguments: json!({"alert_id": {"type": "string", "format": "uuid", "description": "The alert's id, from list_alerts"}}),
        required: &["alert_id"],
        output: output_schema::one_or_waiting("ActivatedAlert"),
    }
}

pub(super) fn change(arguments: &Arguments) -> Result<AgentChange, ToolError> {
    Ok(AgentChange::ResumeAlert(arguments.alert_id()?))
}
