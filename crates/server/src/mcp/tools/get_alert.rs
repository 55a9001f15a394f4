//! `get_alert`

use foundation::Actor;
use serde::Serialize;
use serde_json::json;

use super::arguments::Arguments;
use super::reads::alert_id;
use super::{OutputSchema, Tool, ToolDefinition, ToolEffect, ToolError, ToolOutput, error_text};
use crate::routes::alerts::explanation::AlertExplanation;
use crate::routes::alerts::view::AlertView;
use crate::state::App;

pub(super) fn definition() -> ToolDefinition {
    ToolDefinition {
        title: "Get an alert",
        description:
            "Returns an alert with its stock's figures and evaluation state. evaluation.state \"blind\" means that the \
                      alert is not evaluated at present, and evaluation.reason says what is missing. With explain, \
                      explanation says why the alert fires or not: each comparison with its values, and what else holds it back."
                .to_owned(),
        effect: ToolEffect::Reads,
        arguments: json!({
            "alert_id": alert_id(),
            "explain": {"type": "boolean", "default": false, "description": "Add the explanation"},
            "at": {"type": "string", "format": "date-time", "description": "Explain this past moment, from stored bars"},
            "symbol": {"type": "string", "description": "Explain this stock of an alert over many stocks"},
        }),
        required: &["alert_id"],
        output: OutputSchema::ObjectWith("Alert", json!({"explanation": {"type": "object"}})),
    }
}

/// An alert, and its explanation if it was requested.
#[derive(Serialize)]
struct ExplainedAlertView {
    #[serde(flatten)]
    alert: AlertView,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<AlertExplanation>,
}

pub(super) async fn read(app: &App, actor: &Actor, mut arguments: Arguments) -> Result<ToolOutput, ToolError> {
    let id = arguments.alert_id()?;
    let is_explained = arguments.take_flag("explain") || arguments.has("at");
    let mut query = arguments.query();
    let at = query.instant("at");
    let member = query.symbol("symbol");
    query.finish()?;
    let for_agent = |error| error_text::for_agent(Tool::GetAlert, error);
    let alerts = &app.service().alerts;
    let detail = alerts.alert(actor, id).await.map_err(for_agent)?;
    let explanation = match is_explained {
        true => Some(alerts.explain_alert(actor, id, member, at).await.map_err(for_agent)?),
        false => None,
    };
    ToolOutput::of(&ExplainedAlertView {
        alert: AlertView::of(detail),
        explanation: explanation.map(AlertExplanation::of),
    })
}
