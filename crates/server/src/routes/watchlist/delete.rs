//! `DELETE /watchlist/{id}`

use axum::extract::State;
use serde::Serialize;
use service::watchlist::WatchlistItemId;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::{Allowed, WatchlistWrite};
use crate::error::ApiError;
use crate::query::WatchlistItemPath;

/// An item that is gone.
#[derive(Debug, Serialize, ToSchema)]
pub struct DeletedWatchlistItem {
    /// Which one.
    pub id: Uuid,
    /// Always `true`.
    pub deleted: bool,
}

impl DeletedWatchlistItem {
    /// The one with this id.
    #[must_use]
    pub const fn of(id: WatchlistItemId) -> Self {
        Self {
            id: id.0,
            deleted: true,
        }
    }
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
    app.service().delete_watchlist_item(&who.actor, id).await?;
    Ok(Reply::ok(DeletedWatchlistItem::of(id)))
}
