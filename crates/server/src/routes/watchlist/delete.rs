//! `DELETE /watchlist/{id}`

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::{Allowed, WatchlistWrite};
use crate::error::ApiError;
use crate::query::WatchlistItemPath;

/// The confirmation that an item was deleted.
#[derive(Debug, Serialize, ToSchema)]
pub struct DeletedWatchlistItem {
    /// Always `true`.
    pub deleted: bool,
}

impl DeletedWatchlistItem {
    /// The only confirmation there is.
    pub(crate) const DELETED: Self = Self { deleted: true };
}

/// Take a stock off the watchlist
///
/// Its paper trade is closed, and stays in the performance. The alerts that the analyst made for it are deleted; yours stay.
#[utoipa::path(
    delete,
    path = "/watchlist/{id}",
    tag = "Watchlist",
    params(("id" = String, Path, description = "The item's id")),
    responses(
        (status = 200, description = "The item is gone", body = Envelope<DeletedWatchlistItem>),
        (status = 404, description = "No such item"),
    ),
    security(("ApiKeyHeader" = ["watchlist:write"]))
)]
pub(super) async fn delete_watchlist_item(
    State(app): State<App>,
    who: Allowed<WatchlistWrite>,
    WatchlistItemPath(id): WatchlistItemPath,
) -> Result<Reply<DeletedWatchlistItem>, ApiError> {
    app.service().watchlists.delete_watchlist_item(&who.actor, id).await?;
    Ok(Reply::ok(DeletedWatchlistItem::DELETED))
}
