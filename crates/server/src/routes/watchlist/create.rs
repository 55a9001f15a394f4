//! `POST /watchlist`

use axum::extract::State;
use http::StatusCode;
use utoipa::ToSchema;

use super::view::WatchlistItemView;
use crate::auth::{Authorized, WatchlistWrite};
use crate::body::JsonObject;
use crate::document::names::IntentionName;
use crate::error::ApiError;
use crate::response::{ApiResponse, Envelope};
use crate::state::App;

/// The watchlist item to create.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
#[schema(as = CreateWatchlistItem)]
pub struct CreateWatchlistItemRequest {
    /// Stock symbol, in upper or lower case.
    #[schema(pattern = "^[A-Za-z0-9.-]{1,10}$", example = "AAPL")]
    stock_symbol: String,
    /// Company name. Required to add a stock that is not in the catalog yet.
    #[schema(
        min_length = 1,
        max_length = 200,
        pattern = r"^[^\x00-\x1f\x7f-\x9f]*[^\x00-\x1f\x7f-\x9f\s][^\x00-\x1f\x7f-\x9f]*$",
        example = "Apple Inc."
    )]
    stock_name: Option<String>,
    /// Whether to buy or sell the stock.
    #[schema(value_type = IntentionName)]
    intention: String,
    /// Target price in US dollars.
    #[schema(minimum = 0.000_001, maximum = 1_000_000_000, example = 180)]
    target_price: Option<f64>,
    /// Notes.
    #[schema(
        max_length = 2000,
        pattern = r"^[^\x00]*$",
        example = "Buy below the 200-day average"
    )]
    notes: Option<String>,
}

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
