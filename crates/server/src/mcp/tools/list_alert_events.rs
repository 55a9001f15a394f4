//! `list_alert_events`

use foundation::Actor;
use jiff::Timestamp;
use serde_json::json;

use super::arguments::Arguments;
use super::{Tool, ToolDefinition, ToolEffect, ToolError, ToolOutput, error_text, output_schema};
use crate::routes::alerts::history;
use crate::state::App;

pub(super) fn definition() -> ToolDefinition {
    ToolDefinition {
        title: "List alert events",
        description: "Without alert_id: the firings of all alerts of the account since an instant, newest first. With \
                      alert_id: all events of that alert (created, updated, paused, triggered and so on), even if it is \
                      deleted. A firing has trigger_price and, in details, the reason with the figures."
            .to_owned(),
        effect: ToolEffect::Reads,
        arguments: json!({
            "alert_id": {"type": "string", "format": "uuid", "description": "Only events of this alert"},
            "since": {"type": "string", "format": "date-time", "description": "Only events since this instant, such as 2026-03-02T15:04:00Z"},
            "page": {"type": "integer", "minimum": 1, "default": 1, "description": "The page, from 1"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 200, "default": 50, "description": "Events per page"},
        }),
        required: &[],
        output: output_schema::list("HistoryEntry"),
    }
}

pub(super) async fn call(app: &App, actor: &Actor, arguments: Arguments) -> Result<ToolOutput, ToolError> {
    let alert = arguments.has("alert_id").then(|| arguments.alert_id()).transpose()?;
    let mut query = arguments.query();
    let request = history::read_page(&mut query);
    let since = query.instant("since").unwrap_or(Timestamp::MIN);
    query.finish()?;
    let service = app.service();
    let page = match alert {
        Some(id) => service.alerts.alert_history_since(actor, id, since, request).await,
        None => service.alerts.firings(actor, since, request).await,
    };
    let page = page.map_err(|error| error_text::for_agent(Tool::ListAlertEvents, error))?;
    let (items, pagination) = history::history_page(page, request);
    ToolOutput::list(&items, pagination)
}
