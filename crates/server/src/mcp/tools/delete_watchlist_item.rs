//! `delete_watchlist_item`

use serde_json::json;
use service::approvals::AgentChange;

use super::arguments::Arguments;
use super::{Definition, Effect, ToolError, output};

pub(super) fn definition() -> Definition {
    Definition {
        title: "Take a stock off the watchlist",
        description:
            "Deletes an item of the watchlist for good. Its simulated trade is closed and stays in the performance; \
                      the alerts that the analyst made for it are deleted, those that somebody made stay."
                .to_owned(),
        effect: Effect::Destroys,
        arguments: json!({
            "item_id": {"type": "string", "format": "uuid", "description": "The item's id, from list_watchlist"},
            "confirm": {"type": "boolean", "const": true, "description": "Must be true: the person wants it deleted"},
        }),
        required: &["item_id", "confirm"],
        output: output::one_or_waiting("DeletedWatchlistItem"),
    }
}

pub(super) fn change(arguments: &Arguments) -> Result<AgentChange, ToolError> {
    let id = arguments.item_id()?;
    arguments.confirmed()?;
    Ok(AgentChange::DeleteWatchlistItem(id))
}
