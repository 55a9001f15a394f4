//! `PATCH /watchlist/{id}`

use axum::extract::State;
use utoipa::ToSchema;

use super::view::WatchlistItemView;
use crate::auth::{Authorized, WatchlistWrite};
use crate::body::JsonObject;
use crate::error::ApiError;
use crate::query::WatchlistItemPath;
use crate::response::{ApiResponse, Envelope};
use crate::state::App;

/// The fields to change. Omitted fields keep their values.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
#[schema(as = UpdateWatchlistItem)]
pub struct UpdateWatchlistItemRequest {
    /// Target price in US dollars; null removes it.
    #[schema(minimum = 0.000_001, maximum = 1_000_000_000, example = 175.5)]
    target_price: Option<f64>,
    /// Notes; null removes them.
    #[schema(
        max_length = 2000,
        pattern = r"^[^\x00]*$",
        example = "Buy below the 200-day average"
    )]
    notes: Option<String>,
    /// Whether the item is active. `false` closes its paper trade and deletes the analyst's alerts; `true` starts again at the current
    /// price.
    is_active: Option<bool>,
    /// Whether the analyst creates alerts for the item. `false` deletes the alerts it created.
    auto_alerts_enabled: Option<bool>,
}

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
