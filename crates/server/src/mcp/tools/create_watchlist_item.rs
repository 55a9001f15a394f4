//! `create_watchlist_item`

use serde_json::json;
use service::approvals::AgentChange;
use watchlist::Intention;

use super::arguments::Arguments;
use super::{ToolDefinition, ToolEffect, output_schema};

pub(super) fn definition() -> ToolDefinition {
    let intentions: Vec<&str> = Intention::ALL.iter().map(|intention| intention.name()).collect();
    ToolDefinition {
        title: "Add a stock to the watchlist",
        description: "Adds a stock to the watchlist and opens a simulated trade of 1,000 US dollars: long for buy, short for \
                      sell. On paid plans the analyst creates alerts that fit the intention. A stock that is already on the \
                      watchlist is rejected."
            .to_owned(),
        effect: ToolEffect::Adds,
        arguments: json!({
            "stock_symbol": {"type": "string", "pattern": "^[A-Za-z0-9.-]{1,10}$", "description": "The stock's ticker symbol, such as AAPL"},
            "stock_name": {"type": "string", "minLength": 1, "maxLength": 200, "description": "The company's name, for a stock that is not in the catalog"},
            "intention": {"type": "string", "enum": intentions, "description": "The planned action"},
            "target_price": {"type": "number", "exclusiveMinimum": 0, "maximum": 1_000_000, "description": "The target price in US dollars"},
            "notes": {"type": "string", "maxLength": 2000, "description": "Reasons and other notes"},
        }),
        required: &["stock_symbol", "intention"],
        output: output_schema::one_or_waiting("WatchlistItem"),
    }
}

pub(super) fn change(arguments: Arguments) -> AgentChange {
    AgentChange::CreateWatchlistItem(arguments.body())
}
