//! `GET /market/status`

use crate::routes::prelude::*;

/// The market's status.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = MarketStatus)]
pub struct MarketStatusResponse {
    /// Whether the regular session is open.
    pub is_open: bool,
    /// Same as `is_open`.
    pub open: bool,
    /// Next opening time.
    #[schema(required, format = DateTime, example = "2026-03-03T14:30:00.000Z")]
    pub next_open: Option<String>,
    /// Next closing time.
    #[schema(required, format = DateTime, example = "2026-03-02T21:00:00.000Z")]
    pub next_close: Option<String>,
    /// Time of this response.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub now: String,
}

/// Get the market's status
///
/// Returns the state of the regular session of the New York Stock Exchange, including holidays and early closes.
#[utoipa::path(
    get,
    path = "/market/status",
    tag = "Market",
    responses((status = 200, description = "The market's status", body = Envelope<MarketStatusResponse>)),
    security(("ApiKeyHeader" = ["stocks:read"]))
)]
pub(super) async fn get_market_status(
    State(app): State<App>,
    _caller: Authorized<StocksRead>,
) -> Result<ApiResponse<MarketStatusResponse>, ApiError> {
    let status = app.service().market.market_status();
    Ok(ApiResponse::ok(MarketStatusResponse {
        is_open: status.is_open,
        open: status.is_open,
        next_open: status.next_open.map(timestamp),
        next_close: status.next_close.map(timestamp),
        now: timestamp(status.now),
    }))
}
