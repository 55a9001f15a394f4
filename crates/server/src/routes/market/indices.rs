//! `GET /market/indices`

use super::view::NamedQuote;
use crate::routes::prelude::*;

/// An index or index fund that represents a market.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Index)]
pub struct MarketIndex {
    /// The last quote.
    #[serde(flatten)]
    pub quote: NamedQuote,
    /// Kind of instrument: `etf`, `index`, ...
    #[serde(rename = "type")]
    #[schema(required, example = "etf")]
    pub kind: Option<String>,
    /// Whether it is the benchmark for performance.
    pub is_benchmark: bool,
}

/// List indices
///
/// Returns the performance benchmark first, then, sorted by symbol, all indices of the catalog and well-known index funds (`SPY`,
/// `VOO`, `IVV`, `QQQ`, `DIA`, `IWM`, `VTI`). Only instruments that are in the catalog and still traded are included.
#[utoipa::path(
    get,
    path = "/market/indices",
    tag = "Market",
    responses((status = 200, description = "The indices", body = Envelope<Vec<MarketIndex>>)),
    security(("ApiKeyHeader" = ["stocks:read"]))
)]
pub(super) async fn list_indices(
    State(app): State<App>,
    _caller: Authorized<StocksRead>,
) -> Result<ApiResponse<Vec<MarketIndex>>, ApiError> {
    let service = app.service();
    let benchmark = service.market.benchmark();
    let indices = service.market.indices().into_iter().map(|listed| MarketIndex {
        kind: listed.row.kind.clone(),
        is_benchmark: listed.row.symbol == benchmark,
        quote: NamedQuote::of(listed),
    });
    Ok(ApiResponse::ok(indices.collect()))
}
