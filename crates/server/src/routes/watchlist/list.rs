//! `GET /watchlist`

use super::view::WatchlistItemView;
use crate::routes::prelude::*;

/// List the watchlist
///
/// Returns all items, newest first, with their stocks and numbers of alerts.
#[utoipa::path(
    get,
    path = "/watchlist",
    tag = "Watchlist",
    responses((status = 200, description = "The watchlist", body = Envelope<Vec<WatchlistItemView>>)),
    security(("ApiKeyHeader" = ["watchlist:read"]))
)]
pub(super) async fn list_watchlist(
    State(app): State<App>,
    caller: Authorized<WatchlistRead>,
) -> Result<ApiResponse<Vec<WatchlistItemView>>, ApiError> {
    let items = app.service().watchlists.watchlist(&caller.actor).await?;
    Ok(ApiResponse::ok(items.into_iter().map(WatchlistItemView::of).collect()))
}
