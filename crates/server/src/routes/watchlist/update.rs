//! `PATCH /watchlist/{id}`

use axum::extract::State;
use utoipa::ToSchema;

use super::view::WatchlistItem;
use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::{Allowed, WatchlistWrite};
use crate::body::JsonObject;
use crate::error::ApiError;
use crate::query::WatchlistItemPath;

/// What is to be changed; what is left out stays.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
pub struct UpdateWatchlistItem {
    /// At what price in US dollars; null takes it away.
    #[schema(minimum = 0.000_001, maximum = 1_000_000_000, example = 175.5)]
    target_price: Option<f64>,
    /// The notes; null takes them away.
    #[schema(
        max_length = 2000,
        pattern = r"^[^\x00]*$",
        example = "Buy below the 200-day average"
    )]
    notes: Option<String>,
    /// Whether it is followed. `false` closes its paper trade and deletes the analyst's alerts; `true` begins anew at the present
    /// price.
    is_active: Option<bool>,
    /// Whether the analyst makes alerts for it. `false` deletes those that it made.
    auto_alerts_enabled: Option<bool>,
}

/// Change an item of the watchlist
#[utoipa::path(
    patch,
    path = "/watchlist/{id}",
    tag = "Watchlist",
    params(("id" = String, Path, description = "The item's id")),
    request_body(content = UpdateWatchlistItem, description = "What is to be changed"),
    responses(
        (status = 200, description = "The item as it is now", body = Envelope<WatchlistItem>),
        (status = 400, description = "The body is no JSON object, or something is wrong with its content"),
        (status = 404, description = "No such item"),
    ),
    security(("ApiKeyHeader" = ["watchlist:write"]))
)]
pub(super) async fn update_watchlist_item(
    State(app): State<App>,
    who: Allowed<WatchlistWrite>,
    WatchlistItemPath(id): WatchlistItemPath,
    JsonObject(body): JsonObject,
) -> Result<Reply<WatchlistItem>, ApiError> {
    let item = app
        .service()
        .watchlists
        .update_watchlist_item(&who.actor, id, &body)
        .await;
    Ok(Reply::ok(WatchlistItem::of(item.map_err(ApiError::without_422)?)))
}
