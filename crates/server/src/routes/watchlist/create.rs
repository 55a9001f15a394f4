//! `POST /watchlist`

use axum::extract::State;
use http::StatusCode;
use utoipa::ToSchema;

use super::view::WatchlistItem;
use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::{Allowed, WatchlistWrite};
use crate::body::JsonObject;
use crate::document::names::IntentionName;
use crate::error::ApiError;

/// A stock for the watchlist.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
pub struct CreateWatchlistItem {
    /// The stock, in any case.
    #[schema(pattern = "^[A-Za-z0-9.-]{1,10}$", example = "AAPL")]
    stock_symbol: String,
    /// Its name. A stock that is not known yet comes into the catalog under it.
    #[schema(
        min_length = 1,
        max_length = 200,
        pattern = r"^[^\x00-\x1f\x7f-\x9f]*[^\x00-\x1f\x7f-\x9f\s][^\x00-\x1f\x7f-\x9f]*$",
        example = "Apple Inc."
    )]
    stock_name: Option<String>,
    /// What is meant to be done.
    #[schema(value_type = IntentionName)]
    intention: String,
    /// At what price in US dollars.
    #[schema(minimum = 0.000_001, maximum = 1_000_000_000, example = 180)]
    target_price: Option<f64>,
    /// Why, and whatever else is to be remembered.
    #[schema(
        max_length = 2000,
        pattern = r"^[^\x00]*$",
        example = "Buy below the 200-day average"
    )]
    notes: Option<String>,
}

/// Add a stock to the watchlist
///
/// It opens a paper trade of 1,000 US dollars at the present price, long to buy, short to sell; without a price yet, at the
/// first one. With auto alerts (the default of the paid plans) the analyst looks at it and makes alerts that fit the intention.
/// A stock that is on the watchlist already is 409; one beyond what the plan has room for 403.
#[utoipa::path(
    post,
    path = "/watchlist",
    tag = "Watchlist",
    request_body(content = CreateWatchlistItem, description = "What is meant to be done with which stock"),
    responses(
        (status = 201, description = "A new item", body = Envelope<WatchlistItem>),
        (status = 400, description = "The body is no JSON object, or something is wrong with its content"),
        (status = 404, description = "No such stock, and no name for one"),
        (status = 409, description = "The stock is on the watchlist already"),
    ),
    security(("ApiKeyHeader" = ["watchlist:write"]))
)]
pub(super) async fn create_watchlist_item(
    State(app): State<App>,
    who: Allowed<WatchlistWrite>,
    JsonObject(body): JsonObject,
) -> Result<Reply<WatchlistItem>, ApiError> {
    let item = app.service().watchlists.add_to_watchlist(&who.actor, &body).await;
    let item = item.map_err(ApiError::without_422)?;
    Ok(Reply::with(StatusCode::CREATED, WatchlistItem::of(item)))
}
