//! `update_alert`

use serde_json::json;
use service::approvals::AgentChange;

use super::arguments::Arguments;
use super::{Definition, Effect, ToolError, output};
use crate::document::alert_body::guide;

pub(super) fn definition() -> Definition {
    let conditions: Vec<&str> = alerts::ConditionKind::ALL.iter().map(|kind| kind.name()).collect();
    let mut parameters = guide::parameters();
    parameters["type"] = json!(["object", "null"]);
    parameters["description"] = json!("Replaces all parameters; null takes them away");
    Definition {
        title: "Update an alert",
        description: "Changes an alert; what is left out keeps its value. The result has to be such as create_alert would \
                      take: when the condition changes, threshold and parameters have to fit the new one. An active alert is \
                      armed anew and may fire at once; its initial_price stays. The stock cannot be changed."
            .to_owned(),
        effect: Effect::Destroys,
        arguments: json!({
            "alert_id": {"type": "string", "format": "uuid", "description": "The alert's id, from list_alerts"},
            "condition": {"type": "string", "enum": conditions, "description": "What to wait for from now on; create_alert says what each takes"},
            "threshold": {"type": ["number", "null"], "minimum": 0, "description": "In the condition's unit; null takes it away"},
            "notification": {"type": "string", "enum": ["email", "sms"], "description": "How to tell the owner from now on"},
            "parameters": parameters,
        }),
        required: &["alert_id"],
        output: output::one_or_waiting("Alert"),
    }
}

pub(super) fn change(arguments: Arguments) -> Result<AgentChange, ToolError> {
    Ok(AgentChange::UpdateAlert(arguments.alert_id()?, arguments.body()))
}
