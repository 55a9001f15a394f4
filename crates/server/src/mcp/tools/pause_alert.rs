//! `pause_alert`

use serde_json::json;
use service::approvals::AgentChange;

use super::arguments::Arguments;
use super::{Definition, Effect, ToolError, output};

pub(super) fn definition() -> Definition {
    Definition {
        title: "Pause an alert",
        description:
            "Puts an active alert aside: it is not judged until resume_alert. One that is paused stays so; any other \
                      cannot be paused."
                .to_owned(),
        effect: Effect::Adds,
        arguments: json!({"alert_id": {"type": "string", "format": "uuid", "description": "The alert's id, from list_alerts"}}),
        required: &["alert_id"],
        output: output::one_or_waiting("PausedAlert"),
    }
}

pub(super) fn change(arguments: &Arguments) -> Result<AgentChange, ToolError> {
    Ok(AgentChange::PauseAlert(arguments.alert_id()?))
}
