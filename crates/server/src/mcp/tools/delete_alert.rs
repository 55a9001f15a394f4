//! `delete_alert`

use serde_json::json;
use service::approvals::AgentChange;

use super::arguments::Arguments;
use super::{Definition, Effect, ToolError, output};

pub(super) fn definition() -> Definition {
    Definition {
        title: "Delete an alert",
        description: "Deletes an alert for good; its events stay readable. To stop it for a while, pause_alert does."
            .to_owned(),
        effect: Effect::Destroys,
        arguments: json!({
            "alert_id": {"type": "string", "format": "uuid", "description": "The alert's id, from list_alerts"},
            "confirm": {"type": "boolean", "const": true, "description": "Must be true: the person wants it deleted"},
        }),
        required: &["alert_id", "confirm"],
        output: output::one_or_waiting("DeletedAlert"),
    }
}

pub(super) fn change(arguments: &Arguments) -> Result<AgentChange, ToolError> {
    let id = arguments.alert_id()?;
    arguments.confirmed()?;
    Ok(AgentChange::DeleteAlert(id))
}
