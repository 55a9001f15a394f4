//! `list_alerts`

use serde_json::json;
use service::Actor;

use super::arguments::Arguments;
use super::{Answer, Definition, Effect, ToolError, output};
use crate::app::App;
use crate::routes::alerts::list::{self, SORT_FIELDS};

pub(super) fn definition() -> Definition {
    let statuses: Vec<&str> = alerts::Status::ALL.iter().map(|status| status.name()).collect();
    let conditions: Vec<&str> = alerts::ConditionKind::ALL.iter().map(|kind| kind.name()).collect();
    let fields: Vec<&str> = SORT_FIELDS.iter().map(|(name, _)| *name).collect();
    Definition {
        title: "List alerts",
        description: "A page of the alerts, newest first. To see what fired, ask for status \"triggered\" sorted by \
                      triggered_at; a daily reminder stays \"active\" when it fires. With extended, each alert says how near it is to firing."
            .to_owned(),
        effect: Effect::Reads,
        arguments: json!({
            "page": {"type": "integer", "minimum": 1, "default": 1, "description": "The page, from 1"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10, "description": "How many a page has"},
            "status": {"type": "string", "enum": statuses, "description": "Only those of this status"},
            "condition": {"type": "string", "enum": conditions, "description": "Only those of this condition"},
            "symbol": {"type": "string", "pattern": "^[A-Za-z0-9.-]{1,10}$", "description": "Only those of this stock, such as AAPL"},
            "search": {"type": "string", "maxLength": 100, "description": "Only those whose symbol or company name has this in it"},
            "sort_field": {"type": "string", "enum": fields, "default": "created_at", "description": "By what they are sorted"},
            "sort_direction": {"type": "string", "enum": ["asc", "desc"], "default": "desc", "description": "Smallest or largest first"},
            "minimal": {"type": "boolean", "default": false, "description": "Of each only id, symbol, condition, threshold and status"},
            "extended": {"type": "boolean", "default": false, "description": "With each its stock's figures, what its condition measures now, and the distance to the threshold in percent"},
        }),
        required: &[],
        output: output::list("ListedAlert"),
    }
}

pub(super) async fn call(app: &App, actor: &Actor, arguments: Arguments) -> Result<Answer, ToolError> {
    let (items, pagination) = list::page(app, actor, arguments.query()).await?;
    Answer::list(&items, pagination)
}
