//! `PUT /watchlist/order`

use watchlist::body::SwapIntentionRequest;

use super::view::WatchlistItemView;
use crate::routes::prelude::*;

/// An item with its changed intention.
#[derive(Debug, Serialize, ToSchema)]
pub struct SwappedItem {
    /// The updated item.
    pub item: WatchlistItemView,
    /// Number of deleted analyst alerts.
    #[schema(minimum = 0, example = 3)]
    pub deleted_alerts: u64,
}

/// Change an item's intention
///
/// Atomically sets the initial price to the current price, deletes the analyst's alerts, closes the paper trade and opens the
/// opposite one, and requests a new analysis. A trade that already has the right direction stays open.
#[utoipa::path(
    put,
    path = "/watchlist/order",
    tag = "Watchlist",
    request_body(content = SwapIntentionRequest, description = "The item and its new intention"),
    responses(
        (status = 200, description = "The updated item", body = Envelope<SwappedItem>),
        (status = 400, description = "The body is not a JSON object, or a field is invalid"),
        (status = 404, description = "Watchlist item not found"),
    ),
    security(("ApiKeyHeader" = ["watchlist:write"]))
)]
pub(super) async fn swap_watchlist_item(
    State(app): State<App>,
    caller: Authorized<WatchlistWrite>,
    JsonObject(body): JsonObject,
) -> Result<ApiResponse<SwappedItem>, ApiError> {
    let swapped = app.service().watchlists.swap_watchlist_item(&caller.actor, &body).await;
    let swapped = swapped.map_err(ApiError::validation_as_400)?;
    Ok(ApiResponse::ok(SwappedItem {
        item: WatchlistItemView::of(swapped.item),
        deleted_alerts: u64::try_from(swapped.deleted_alerts).unwrap_or(u64::MAX),
    }))
}
