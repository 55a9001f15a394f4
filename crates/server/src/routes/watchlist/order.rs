//! `PUT /watchlist/order`

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::view::WatchlistItem;
use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::{Allowed, WatchlistWrite};
use crate::body::JsonObject;
use crate::document::names::IntentionName;
use crate::error::ApiError;

/// Which item is to be turned.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
pub struct SwapIntention {
    /// The item.
    item_id: uuid::Uuid,
    /// What is meant to be done from now on.
    #[schema(value_type = IntentionName)]
    new_intention: String,
    /// The item's stock.
    #[schema(pattern = "^[A-Za-z0-9.-]{1,10}$", example = "AAPL")]
    stock_symbol: String,
}

/// An item that was turned.
#[derive(Debug, Serialize, ToSchema)]
pub struct SwappedItem {
    /// The item as it is now.
    pub item: WatchlistItem,
    /// How many alerts of the analyst's were deleted.
    #[schema(minimum = 0, example = 3)]
    pub deleted_alerts: u64,
}

/// Turn an item to the other intention
///
/// The initial price becomes the present one, the analyst's alerts are deleted, the paper trade is closed and the opposite one
/// opened, and the analyst looks at the stock anew: all of it, or nothing. A trade that has the direction already stays.
#[utoipa::path(
    put,
    path = "/watchlist/order",
    tag = "Watchlist",
    request_body(content = SwapIntention, description = "Which item, and to what"),
    responses(
        (status = 200, description = "The item as it is now", body = Envelope<SwappedItem>),
        (status = 400, description = "The body is no JSON object, or something is wrong with its content"),
        (status = 404, description = "No such item"),
    ),
    security(("ApiKeyHeader" = ["watchlist:write"]))
)]
pub(super) async fn swap_watchlist_item(
    State(app): State<App>,
    who: Allowed<WatchlistWrite>,
    JsonObject(body): JsonObject,
) -> Result<Reply<SwappedItem>, ApiError> {
    let swapped = app.service().watchlists.swap_watchlist_item(&who.actor, &body).await;
    let swapped = swapped.map_err(ApiError::without_422)?;
    Ok(Reply::ok(SwappedItem {
        item: WatchlistItem::of(swapped.item),
        deleted_alerts: u64::try_from(swapped.deleted_alerts).unwrap_or(u64::MAX),
    }))
}
