//! `get_alert`

use foundation::Actor;
use serde_json::json;

use super::arguments::Arguments;
use super::{Tool, ToolDefinition, ToolEffect, ToolError, ToolOutput, error_text, output_schema};
use crate::routes::alerts::view::AlertView;
use crate::state::App;

pub(super) fn definition() -> ToolDefinition {
    ToolDefinition {
        title: "Get an alert",
        description:
            "Returns an alert with its stock's figures and evaluation state. evaluation.state \"blind\" means that the \
                      alert is not evaluated at present, and evaluation.reason says what is missing."
                .to_owned(),
        effect: ToolEffect::Reads,
        arguments: json!({"alert_id": {"type": "string", "format": "uuid", "description": "The alert's id, from list_alerts"}}),
        required: &["alert_id"],
        output: output_schema::one("Alert"),
    }
}

pub(super) async fn call(app: &App, actor: &Actor, arguments: Arguments) -> Result<ToolOutput, ToolError> {
    let detail = app.service().alerts.alert(actor, arguments.alert_id()?).await;
    let detail = detail.map_err(|error| error_text::for_agent(Tool::GetAlert, error))?;
    ToolOutput::of(&AlertView::of(detail))
}
