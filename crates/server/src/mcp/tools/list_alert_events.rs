//! `list_alert_events`

use serde_json::json;
use service::Actor;

use super::arguments::Arguments;
use super::{Answer, Definition, Effect, ToolError, output};
use crate::app::App;
use crate::routes::alerts::history;

pub(super) fn definition() -> Definition {
    Definition {
        title: "List an alert's events",
        description:
            "What happened to an alert, newest first: created, changed, paused, triggered and so on, also of one \
                      that was deleted. Of a firing, trigger_price is the price at which it fired, and details has the \
                      reason with the figures that were judged."
                .to_owned(),
        effect: Effect::Reads,
        arguments: json!({
            "alert_id": {"type": "string", "format": "uuid", "description": "The alert's id, from list_alerts"},
            "page": {"type": "integer", "minimum": 1, "default": 1, "description": "The page, from 1"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 200, "default": 50, "description": "How many a page has"},
        }),
        required: &["alert_id"],
        output: output::list("HistoryEntry"),
    }
}

pub(super) async fn call(app: &App, actor: &Actor, arguments: Arguments) -> Result<Answer, ToolError> {
    let id = arguments.alert_id()?;
    let (items, pagination) = history::page(app, actor, id, arguments.query()).await?;
    Answer::list(&items, pagination)
}
