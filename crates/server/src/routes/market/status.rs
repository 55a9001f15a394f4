//! `GET /market/status`

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::{Allowed, StocksRead};
use crate::error::ApiError;
use crate::values::timestamp;

/// Whether the market is open.
#[derive(Debug, Serialize, ToSchema)]
pub struct MarketStatus {
    /// Whether the regular session is going on.
    pub is_open: bool,
    /// The same as `is_open`.
    pub open: bool,
    /// When it opens next.
    #[schema(required, format = DateTime, example = "2026-03-03T14:30:00.000Z")]
    pub next_open: Option<String>,
    /// When it closes next.
    #[schema(required, format = DateTime, example = "2026-03-02T21:00:00.000Z")]
    pub next_close: Option<String>,
    /// The instant of this answer.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub now: String,
}

/// Get the market's status
///
/// The regular session of the New York Stock Exchange; holidays and early closes are taken into account.
#[utoipa::path(
    get,
    path = "/market/status",
    tag = "Market",
    responses((status = 200, description = "The market's status", body = Envelope<MarketStatus>)),
    security(("ApiKeyHeader" = ["stocks:read"]))
)]
pub(super) async fn get_market_status(
    State(app): State<App>,
    _who: Allowed<StocksRead>,
) -> Result<Reply<MarketStatus>, ApiError> {
    let status = app.service().market.market_status();
    Ok(Reply::ok(MarketStatus {
        is_open: status.is_open,
        open: status.is_open,
        next_open: status.next_open.map(timestamp),
        next_close: status.next_close.map(timestamp),
        now: timestamp(status.now),
    }))
}
