//! `delete_watchlist_item`

use serde_json::json;
use service::approvals::AgentChange;

use super::arguments::Arguments;
use super::{ToolDefinition, ToolEffect, ToolError, output_schema};

pub(super) fn definition() -> ToolDefinition {
    ToolDefinition {
        title: "Remove a stock from the watchlist",
        description:
            "Deletes a watchlist item permanently. Its simulated trade is closed and stays in the performance. Alerts \
                      that the analyst created for it are deleted; other alerts stay."
                .to_owned(),
        effect: ToolEffect::Destroys,
        arguments: json!({
            "item_id": {"type": "string", "format": "uuid", "description": "The item's id, from list_watchlist"},
            "confirm": {"type": "boolean", "const": true, "description": "Must be true: the user confirms the deletion"},
        }),
        required: &["item_id", "confirm"],
        output: output_schema::one_or_waiting("DeletedWatchlistItem"),
    }
}

pub(super) fn change(arguments: &Arguments) -> Result<AgentChange, ToolError> {
    let id = arguments.item_id()?;
    arguments.confirmed()?;
    Ok(AgentChange::DeleteWatchlistItem(id))
}
