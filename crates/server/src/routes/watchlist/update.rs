//! `PATCH /watchlist/{id}`

use watchlist::body::UpdateWatchlistItemRequest;

use super::view::WatchlistItemView;
use crate::routes::prelude::*;

/// Update a watchlist item
#[utoipa::path(
    patch,
    path = "/watchlist/{id}",
    tag = "Watchlist",
    params(("id" = String, Path, description = "Watchlist item id")),
    request_body(content = UpdateWatchlistItemRequest, description = "The fields to change"),
    responses(
        (status = 200, description = "The updated item", body = Envelope<WatchlistItemView>),
        (status = 400, description = "The body is not a JSON object, or a field is invalid"),
        (status = 404, description = "Watchlist item not found"),
    ),
    security(("ApiKeyHeader" = ["watchlist:write"]))
)]
pub(super) async fn update_watchlist_item(
    State(app): State<App>,
    caller: Authorized<WatchlistWrite>,
    WatchlistItemPath(id): WatchlistItemPath,
    JsonObject(body): JsonObject,
) -> Result<ApiResponse<WatchlistItemView>, ApiError> {
    let item = app
        .service()
        .watchlists
        .update_watchlist_item(&caller.actor, id, &body)
        .await;
    Ok(ApiResponse::ok(WatchlistItemView::of(
        item.map_err(ApiError::validation_as_400)?,
    )))
}
