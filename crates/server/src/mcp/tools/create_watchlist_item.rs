//! `create_watchlist_item`

use serde_json::json;
use service::approvals::AgentChange;
use service::watchlist::Intention;

use super::arguments::Arguments;
use super::{Definition, Effect, output};

pub(super) fn definition() -> Definition {
    let intentions: Vec<&str> = Intention::ALL.iter().map(|intention| intention.name()).collect();
    Definition {
        title: "Add a stock to the watchlist",
        description: "Puts a stock on the watchlist and opens a simulated trade of 1,000 US dollars, long to buy, short to \
                      sell. On the paid plans the analyst makes alerts that fit the intention. A stock that is on it already \
                      is refused."
            .to_owned(),
        effect: Effect::Adds,
        arguments: json!({
            "stock_symbol": {"type": "string", "pattern": "^[A-Za-z0-9.-]{1,10}$", "description": "The stock's ticker symbol, such as AAPL"},
            "stock_name": {"type": "string", "minLength": 1, "maxLength": 200, "description": "The company's name, for a stock that is not known yet"},
            "intention": {"type": "string", "enum": intentions, "description": "What is meant to be done"},
            "target_price": {"type": "number", "exclusiveMinimum": 0, "maximum": 1_000_000, "description": "At what price in US dollars"},
            "notes": {"type": "string", "maxLength": 2000, "description": "Why, and whatever else is to be remembered"},
        }),
        required: &["stock_symbol", "intention"],
        output: output::one_or_waiting("WatchlistItem"),
    }
}

pub(super) fn change(arguments: Arguments) -> AgentChange {
    AgentChange::CreateWatchlistItem(arguments.body())
}
