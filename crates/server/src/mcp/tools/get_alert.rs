//! `get_alert`

use serde_json::json;
use service::Actor;

use super::arguments::Arguments;
use super::{Answer, Definition, Effect, Tool, ToolError, output, refusals};
use crate::app::App;
use crate::routes::alerts::view::Alert;

pub(super) fn definition() -> Definition {
    Definition {
        title: "Get an alert",
        description:
            "An alert with its stock's figures, and whether it is judged at present: evaluation.state \"blind\" \
                      means that it is not, and evaluation.reason says what is missing."
                .to_owned(),
        effect: Effect::Reads,
        arguments: json!({"alert_id": {"type": "string", "format": "uuid", "description": "The alert's id, from list_alerts"}}),
        required: &["alert_id"],
        output: output::one("Alert"),
    }
}

pub(super) async fn call(app: &App, actor: &Actor, arguments: Arguments) -> Result<Answer, ToolError> {
    let detail = app.service().alerts.alert(actor, arguments.alert_id()?).await;
    let detail = detail.map_err(|error| refusals::of(Tool::GetAlert, error))?;
    Answer::of(&Alert::of(detail))
}
