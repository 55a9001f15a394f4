//! `POST /watchlist`

use watchlist::body::CreateWatchlistItemRequest;

use super::view::WatchlistItemView;
use crate::routes::prelude::*;

/// Add a stock to the watchlist
///
/// Opens a paper trade of 1,000 US dollars at the current price (long for buy, short for sell); if no price is known, at the
/// first price. With auto alerts (the default of paid plans), the analyst creates alerts that fit the intention. Returns 409 if the
/// stock is already on the watchlist, and 403 if the plan's limit is reached.
#[utoipa::path(
    post,
    path = "/watchlist",
    tag = "Watchlist",
    request_body(content = CreateWatchlistItemRequest, description = "The watchlist item to create"),
    responses(
        (status = 201, description = "The created item", body = Envelope<WatchlistItemView>),
        (status = 400, description = "The body is not a JSON object, or a field is invalid"),
        (status = 404, description = "Stock not found, and no `stock_name` was sent"),
        (status = 409, description = "The stock is already on the watchlist"),
    ),
    security(("ApiKeyHeader" = ["watchlist:write"]))
)]
pub(super) async fn create_watchlist_item(
    State(app): State<App>,
    caller: Authorized<WatchlistWrite>,
    JsonObject(body): JsonObject,
) -> Result<ApiResponse<WatchlistItemView>, ApiError> {
    let item = app.service().watchlists.add_to_watchlist(&caller.actor, &body).await;
    let item = item.map_err(ApiError::validation_as_400)?;
    Ok(ApiResponse::with(StatusCode::CREATED, WatchlistItemView::of(item)))
}
