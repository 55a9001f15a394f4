//! `GET /market/top-movers`

use super::view::{CoverageView, NamedQuote};
use crate::routes::prelude::*;

const DEFAULT_LIMIT: u32 = 10;
const MAX_LIMIT: u32 = 50;

/// Query parameters: list length.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handler reads them")]
pub struct TopMoversParams {
    /// Maximum length of each list. Values above 50 are clamped to 50.
    #[param(value_type = Option<u64>, minimum = 1, default = 10)]
    limit: Option<u32>,
}

/// Stocks with the largest moves.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TopMovers)]
pub struct TopMoversResponse {
    /// The latest session with known prices; null if there is none.
    #[schema(required, format = Date, example = "2026-03-02")]
    pub date: Option<String>,
    /// Number of companies compared and in total.
    pub coverage: CoverageView,
    /// Rising stocks, largest percentage gain first.
    pub gainers: Vec<NamedQuote>,
    /// Falling stocks, largest percentage loss first.
    pub losers: Vec<NamedQuote>,
    /// Most traded stocks, largest volume in shares first.
    pub most_active: Vec<NamedQuote>,
}

/// List top movers
///
/// Returns the companies of the catalog with the largest moves in the latest session with known prices; ties are sorted by
/// symbol. Excluded are funds, indices, stocks that are no longer traded, and stocks without a price in that session or a
/// close of the previous one.
#[utoipa::path(
    get,
    path = "/market/top-movers",
    tag = "Market",
    params(TopMoversParams),
    responses((status = 200, description = "The top movers", body = Envelope<TopMoversResponse>)),
    security(("ApiKeyHeader" = ["stocks:read"]))
)]
pub(super) async fn list_top_movers(
    State(app): State<App>,
    _caller: Authorized<StocksRead>,
    mut query: Query,
) -> Result<ApiResponse<TopMoversResponse>, ApiError> {
    let limit = query.limit(DEFAULT_LIMIT, MAX_LIMIT);
    query.finish()?;
    let movers = app
        .service()
        .market
        .top_movers(usize::try_from(limit).unwrap_or(usize::MAX));
    let all = |movers: Vec<_>| movers.into_iter().map(NamedQuote::of).collect();
    Ok(ApiResponse::ok(TopMoversResponse {
        date: movers.session.map(date),
        coverage: CoverageView::of(movers.coverage),
        gainers: all(movers.gainers),
        losers: all(movers.losers),
        most_active: all(movers.most_active),
    }))
}
