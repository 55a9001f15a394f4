//! `list_alert_events`

use jiff::Timestamp;
use serde_json::json;
use service::Actor;

use super::arguments::Arguments;
use super::{Answer, Definition, Effect, Tool, ToolError, output, refusals};
use crate::app::App;
use crate::routes::alerts::history;

pub(super) fn definition() -> Definition {
    Definition {
        title: "List alert events",
        description: "Without alert_id: the firings of all the account's alerts since an instant, newest first. With \
                      alert_id: everything that happened to that alert (created, updated, paused, triggered and so on), \
                      also after it was deleted. A firing has trigger_price and, in details, the reason with the figures."
            .to_owned(),
        effect: Effect::Reads,
        arguments: json!({
            "alert_id": {"type": "string", "format": "uuid", "description": "Only this alert, with its whole history"},
            "since": {"type": "string", "format": "date-time", "description": "Only events from this instant on, such as 2026-03-02T15:04:00Z"},
            "page": {"type": "integer", "minimum": 1, "default": 1, "description": "The page, from 1"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 200, "default": 50, "description": "Events per page"},
        }),
        required: &[],
        output: output::list("HistoryEntry"),
    }
}

pub(super) async fn call(app: &App, actor: &Actor, arguments: Arguments) -> Result<Answer, ToolError> {
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
    let page = page.map_err(|error| refusals::of(Tool::ListAlertEvents, error))?;
    let (items, pagination) = history::shown(page, request);
    Answer::list(&items, pagination)
}
