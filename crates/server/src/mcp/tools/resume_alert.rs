//! `resume_alert`

use serde_json::json;
use service::approvals::AgentChange;

use super::arguments::Arguments;
use super::{Definition, Effect, ToolError, output};

pub(super) fn definition() -> Definition {
    Definition {
        title: "Resume an alert",
        description:
            "Makes a paused, inactive or triggered alert active again; percentages count from the present price. An \
                      active one stays as it is. Without a price of its stock it is refused for now."
                .to_owned(),
        effect: Effect::Adds,
        arguments: json!({"alert_id": {"type": "string", "format": "uuid", "description": "The alert's id, from list_alerts"}}),
        required: &["alert_id"],
        output: output::one_or_waiting("ActivatedAlert"),
    }
}

pub(super) fn change(arguments: &Arguments) -> Result<AgentChange, ToolError> {
    Ok(AgentChange::ResumeAlert(arguments.alert_id()?))
}
