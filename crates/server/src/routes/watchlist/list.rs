//! `GET /watchlist`

use axum::extract::State;

use super::view::WatchlistItem;
use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::{Allowed, WatchlistRead};
use crate::error::ApiError;

/// List the watchlist
///
/// All items, newest first, with their stocks and how many alerts there are on them.
#[utoipa::path(
    get,
    path = "/watchlist",
    tag = "Watchlist",
    responses((status = 200, description = "The watchlist", body = Envelope<Vec<WatchlistItem>>)),
    security(("ApiKeyHeader" = ["watchlist:read"]))
)]
pub(super) async fn list_watchlist(
    State(app): State<App>,
    who: Allowed<WatchlistRead>,
) -> Result<Reply<Vec<WatchlistItem>>, ApiError> {
    let items = app.service().watchlists.watchlist(&who.actor).await?;
    Ok(Reply::ok(items.into_iter().map(WatchlistItem::of).collect()))
}
