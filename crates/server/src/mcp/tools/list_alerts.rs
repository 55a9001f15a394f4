//! `list_alerts`

use foundation::Actor;
use serde_json::json;

use super::arguments::Arguments;
use super::{ToolDefinition, ToolEffect, ToolError, ToolOutput, output_schema};
use crate::routes::alerts::list::{self, SORT_FIELDS};
use crate::state::App;

pub(super) fn definition() -> ToolDefinition {
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
            "status": {"type": "string", "enum": statuses, "description": "Only alerts with this status"},
            "condition": {"type": "string", "enum": conditions, "description": "Only alerts with this condition"},
            "symbol": {"type": "string", "pattern": "^[A-Za-z0-9.-]{1,10}$", "description": "Only alerts on this stock, such as AAPL"},
            "search": {"type": "string", "maxLength": 100, "description": "Only alerts whose symbol or company name contains this"},
            "sort_field": {"type": "string", "enum": fields, "default": "created_at", "description": "The field to sort by"},
            "sort_direction": {"type": "string", "enum": ["asc", "desc"], "default": "desc", "description": "Ascending or descending"},
            "minimal": {"type": "boolean", "default": false, "description": "Return only id, symbol, condition, threshold and status"},
            "extended": {"type": "boolean", "default": false, "description": "Add the stock's figures, the current value of the condition, and the distance to the threshold in percent"},
        }),
        required: &[],
        output: output_schema::list("ListedAlert"),
    }
}

pub(super) async fn call(app: &App, actor: &Actor, arguments: Arguments) -> Result<ToolOutput, ToolError> {
    let (items, pagination) = list::page(app, actor, arguments.query()).await?;
    ToolOutput::list(&items, pagination)
}
