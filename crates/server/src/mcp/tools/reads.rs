//! The tools that read data.

use std::collections::HashMap;

use foundation::Actor;
use serde_json::{Value, json};
use service::{HistoryPosition, Page, PageRequest};

use super::arguments::Arguments;
use super::{OutputSchema, Tool, ToolDefinition, ToolEffect, ToolError, ToolOutput, error_text};
use crate::response::ListPage;
use crate::routes::alerts::history::{HistoryEntry, HistoryPage};
use crate::routes::alerts::list::{self, SORT_FIELDS};
use crate::routes::firings::view::FiringReceiptView;
use crate::routes::watchlist::view::WatchlistItemView;
use crate::state::App;

/// Returns the schema of an alert's id.
pub(super) fn alert_id() -> Value {
    json!({"type": "string", "format": "uuid", "description": "The alert's id, from list_alerts"})
}

pub(super) fn list_alerts() -> ToolDefinition {
    let statuses: Vec<&str> = alerts::Status::ALL.iter().map(|status| status.name()).collect();
    let conditions: Vec<&str> = alerts::ConditionKind::ALL.iter().map(|kind| kind.name()).collect();
    let fields: Vec<&str> = SORT_FIELDS.iter().map(|(name, _)| *name).collect();
    ToolDefinition {
        title: "List alerts",
        description: "Returns a page of alerts, newest first. For fired alerts, use status \"triggered\" sorted by triggered_at; \
                      a daily reminder stays \"active\" when it fires. With extended, each alert has its distance to the threshold."
            .to_owned(),
        effect: ToolEffect::Reads,
        arguments: json!({
            "page": {"type": "integer", "minimum": 1, "default": 1, "description": "The page, from 1"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10, "description": "Alerts per page"},
            "after": {"type": "string", "format": "uuid", "description": "The id of an alert: the page begins after it; omit page"},
            "status": {"type": "string", "enum": statuses, "description": "Only alerts with this status"},
            "condition": {"type": "string", "enum": conditions, "description": "Only alerts with this condition"},
            "symbol": {"type": "string", "pattern": "^[A-Za-z0-9.-]{1,10}$", "description": "Only alerts on this stock, such as AAPL"},
            "search": {"type": "string", "maxLength": 100, "description": "Only alerts whose symbol or company name contains this"},
            "tags": {"type": "string", "description": "Only alerts with all these tags, separated by commas"},
            "sort_field": {"type": "string", "enum": fields, "default": "created_at", "description": "The field to sort by"},
            "sort_direction": {"type": "string", "enum": ["asc", "desc"], "default": "desc", "description": "Ascending or descending"},
            "minimal": {"type": "boolean", "default": false, "description": "Return only id, symbol, condition, threshold and status"},
            "extended": {"type": "boolean", "default": false, "description": "Add the stock's figures, the current value of the condition, and the distance to the threshold in percent"},
        }),
        required: &[],
        output: OutputSchema::List("ListedAlert"),
    }
}

pub(super) async fn read_alerts(app: &App, actor: &Actor, arguments: Arguments) -> Result<ToolOutput, ToolError> {
    ToolOutput::of(&list::page(app, actor, arguments.query()).await?)
}

pub(super) fn list_alert_events() -> ToolDefinition {
    ToolDefinition {
        title: "List alert events",
        description: "Without alert_id: the firings of all alerts of the account since an instant, newest first. With \
                      alert_id: all events of that alert (created, updated, paused, triggered and so on), even if it is \
                      deleted. A firing has trigger_price and, in details, the reason with the figures. Without \
                      alert_id, `firing` has its messages (channel, state, times, error) and who acknowledged it."
            .to_owned(),
        effect: ToolEffect::Reads,
        arguments: json!({
            "alert_id": {"type": "string", "format": "uuid", "description": "Only events of this alert"},
            "since": {"type": "string", "format": "date-time", "description": "Only events since this instant, such as 2026-03-02T15:04:00Z"},
            "page": {"type": "integer", "minimum": 1, "default": 1, "description": "The page, from 1"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 200, "default": 50, "description": "Events per page"},
            "after": {"type": "string", "description": "The position of an event: the page begins after it; omit page"},
        }),
        required: &[],
        output: OutputSchema::List("HistoryEntry"),
    }
}

pub(super) async fn read_alert_events(app: &App, actor: &Actor, arguments: Arguments) -> Result<ToolOutput, ToolError> {
    let alert = arguments.has("alert_id").then(|| arguments.alert_id()).transpose()?;
    let mut query = arguments.query();
    let request = HistoryPage::read(&mut query);
    let since = query.instant("since");
    query.finish()?;
    let service = app.service();
    let refused = |error| error_text::for_agent(Tool::ListAlertEvents, error);
    let page = match alert {
        Some(id) => service.alerts.alert_history_since(actor, id, since, request).await,
        None => service.alerts.firings_since(actor, since, request).await,
    };
    let page = page.map_err(refused)?;
    let mut receipts = HashMap::new();
    if alert.is_none() {
        let positions: Vec<HistoryPosition> = page.items.iter().map(|listed| listed.position).collect();
        receipts = service.firings.firings_at(actor, &positions).await.map_err(refused)?;
    }
    ToolOutput::of(&ListPage::of(page, request, |listed| {
        let receipt = receipts.remove(&listed.position).map(FiringReceiptView::of);
        HistoryEntry {
            firing: receipt,
            ..HistoryEntry::of(listed)
        }
    }))
}

pub(super) fn list_watchlist() -> ToolDefinition {
    ToolDefinition {
        title: "List the watchlist",
        description:
            "Returns all watchlist items on one page, newest first: the planned action for each stock, its target \
                      price, the latest analysis, and the number of its alerts."
                .to_owned(),
        effect: ToolEffect::Reads,
        arguments: json!({}),
        required: &[],
        output: OutputSchema::List("WatchlistItem"),
    }
}

pub(super) async fn read_watchlist(app: &App, actor: &Actor) -> Result<ToolOutput, ToolError> {
    let items = app.service().watchlists.watchlist(actor).await?;
    let total = items.len() as u64;
    let all = PageRequest {
        page: 1,
        limit: u32::try_from(total).unwrap_or(u32::MAX).max(1),
    };
    ToolOutput::of(&ListPage::of(Page { items, total }, all, WatchlistItemView::of))
}
