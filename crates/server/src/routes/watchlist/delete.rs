//! `DELETE /watchlist/{id}`

use crate::routes::prelude::*;

/// The confirmation that an item was deleted.
#[derive(Debug, Serialize, ToSchema)]
pub struct DeletedWatchlistItem {
    /// Always `true`.
    pub deleted: bool,
}

impl DeletedWatchlistItem {
    pub(crate) const DELETED: Self = Self { deleted: true };
}

/// Remove a stock from the watchlist
///
/// Closes its paper trade, which stays in the performance. Deletes the alerts that the analyst created for it; your own alerts stay.
#[utoipa::path(
    delete,
    path = "/watchlist/{id}",
    tag = "Watchlist",
    params(("id" = String, Path, description = "Watchlist item id")),
    responses(
        (status = 200, description = "The item is deleted", body = Envelope<DeletedWatchlistItem>),
        (status = 404, description = "Watchlist item not found"),
    ),
    security(("ApiKeyHeader" = ["watchlist:write"]))
)]
pub(super) async fn delete_watchlist_item(
    State(app): State<App>,
    caller: Authorized<WatchlistWrite>,
    WatchlistItemPath(id): WatchlistItemPath,
) -> Result<ApiResponse<DeletedWatchlistItem>, ApiError> {
    app.service()
        .watchlists
        .delete_watchlist_item(&caller.actor, id)
        .await?;
    Ok(ApiResponse::ok(DeletedWatchlistItem::DELETED))
}
