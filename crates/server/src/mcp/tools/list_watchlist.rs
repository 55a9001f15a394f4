//! `list_watchlist`

use serde_json::json;
use service::Actor;

use super::{Answer, Definition, Effect, ToolError, output};
use crate::answer::Pagination;
use crate::app::App;
use crate::routes::watchlist::view::WatchlistItem;

pub(super) fn definition() -> Definition {
    Definition {
        title: "List the watchlist",
        description:
            "All items of the watchlist, newest first: what is meant to be done with each stock, at what price, what \
                      the analyst said of it last, and how many alerts there are on it. All of them are on one page."
                .to_owned(),
        effect: Effect::Reads,
        arguments: json!({}),
        required: &[],
        output: output::list("WatchlistItem"),
    }
}

pub(super) async fn call(app: &App, actor: &Actor) -> Result<Answer, ToolError> {
    let items: Vec<_> = app
        .service()
        .watchlists
        .watchlist(actor)
        .await?
        .into_iter()
        .map(WatchlistItem::of)
        .collect();
    let count = u32::try_from(items.len()).unwrap_or(u32::MAX);
    let all = service::PageRequest {
        page: 1,
        limit: count.max(1),
    };
    Answer::list(&items, Pagination::of(all, u64::from(count)))
}
