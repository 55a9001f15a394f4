//! `delete_alert`

use serde_json::json;
use service::approvals::AgentChange;

use super::arguments::Arguments;
use super::{ToolDefinition, ToolEffect, ToolError, output_schema};

pub(super) fn definition() -> ToolDefinition {
    ToolDefinition {
        title: "Delete an alert",
        description: "Deletes an alert permanently; its events stay readable. To stop it temporarily, use pause_alert."
            .to_owned(),
        effect: ToolEffect::Destroys,
        arguments: json!({
            "alert_id": {"type": "string", "format": "uuid", "description": "The alert's id, from list_alerts"},
            "confirm": {"type": "boolean", "const": true, "description": "Must be true: the user confirms the deletion"},
        }),
        required: &["alert_id", "confirm"],
        output: output_schema::one_or_waiting("DeletedAlert"),
    }
}

pub(super) fn change(arguments: &Arguments) -> Result<AgentChange, ToolError> {
    let id = arguments.alert_id()?;
    arguments.confirmed()?;
    Ok(AgentChange::DeleteAlert(id))
}
