//! `list_watchlist`

use foundation::Actor;
use serde_json::json;

use super::{ToolDefinition, ToolEffect, ToolError, ToolOutput, output_schema};
use crate::response::Pagination;
use crate::routes::watchlist::view::WatchlistItemView;
use crate::state::App;

pub(super) fn definition() -> ToolDefinition {
    ToolDefinition {
        title: "List the watchlist",
        description:
            "Returns all watchlist items on one page, newest first: the planned action for each stock, its target \
                      price, the latest analysis, and the number of its alerts."
                .to_owned(),
        effect: ToolEffect::Reads,
        arguments: json!({}),
        required: &[],
        output: output_schema::list("WatchlistItem"),
    }
}

pub(super) async fn call(app: &App, actor: &Actor) -> Result<ToolOutput, ToolError> {
    let items: Vec<_> = app
        .service()
        .watchlists
        .watchlist(actor)
        .await?
        .into_iter()
        .map(WatchlistItemView::of)
        .collect();
    let count = u32::try_from(items.len()).unwrap_or(u32::MAX);
    let all = service::PageRequest {
        page: 1,
        limit: count.max(1),
    };
    ToolOutput::list(&items, Pagination::of(all, u64::from(count)))
}
