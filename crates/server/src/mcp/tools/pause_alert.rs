//! `pause_alert`

use serde_json::json;
use service::approvals::AgentChange;

use super::arguments::Arguments;
use super::{ToolDefinition, ToolEffect, ToolError, output_schema};

pub(super) fn definition() -> ToolDefinition {
    ToolDefinition {
        title: "Pause an alert",
        description:
            "Pauses an active alert: it is not evaluated until resume_alert. A paused alert stays paused; any other \
                      alert cannot be paused."
                .to_owned(),
        effect: ToolEffect::Adds,
        arguments: json!({"alert_id": {"type": "string", "format": "uuid", "description": "The alert's id, from list_alerts"}}),
        required: &["alert_id"],
        output: output_schema::one_or_waiting("PausedAlert"),
    }
}

pub(super) fn change(arguments: &Arguments) -> Result<AgentChange, ToolError> {
    Ok(AgentChange::PauseAlert(arguments.alert_id()?))
}
