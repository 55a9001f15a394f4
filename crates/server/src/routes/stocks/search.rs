//! `GET /stocks`

use market::records::StockRow;

use super::view::StockDetails;
use crate::routes::prelude::*;

const DEFAULT_LIMIT: u32 = 20;
const MAX_LIMIT: u32 = 100;
const MAX_SEARCH_CHARS: usize = 100;

/// Query parameters: search text and limit.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handler reads them")]
pub struct SearchParams {
    /// Only stocks whose symbol or name contains this text, ignoring case; defaults to all stocks.
    #[param(max_length = 100, pattern = "^[^\\u0000]*$", example = "apple")]
    search: Option<String>,
    /// Maximum number of results. Values above 100 are clamped to 100.
    #[param(value_type = Option<u64>, minimum = 1, default = 20)]
    limit: Option<u32>,
}

/// A stock in the catalog.
#[derive(Debug, Serialize, ToSchema)]
pub struct FoundStock {
    /// Stock symbol.
    #[schema(example = "AAPL")]
    pub symbol: String,
    /// Company name.
    #[schema(example = "Apple Inc.")]
    pub name: String,
    /// Kind of instrument: `stock`, `etf`, `adr`, ...
    #[serde(rename = "type")]
    #[schema(required, example = "stock")]
    pub kind: Option<String>,
    /// Whether the stock is still traded.
    pub is_active: bool,
    /// Details of the company.
    pub details: StockDetails,
}

impl FoundStock {
    fn of(row: StockRow) -> Self {
        Self {
            symbol: row.symbol.to_string(),
            name: row.name.clone(),
            kind: row.kind.clone(),
            is_active: row.is_active,
            details: StockDetails::of(row),
        }
    }
}

/// Search stocks
///
/// Returns stocks whose symbol starts with the text first, then those whose name starts with it, then all others that contain it.
#[utoipa::path(
    get,
    path = "/stocks",
    tag = "Stocks",
    params(SearchParams),
    responses((status = 200, description = "The matching stocks", body = Envelope<Vec<FoundStock>>)),
    security(("ApiKeyHeader" = ["stocks:read"]))
)]
pub(super) async fn search_stocks(
    State(app): State<App>,
    _caller: Authorized<StocksRead>,
    mut query: Query,
) -> Result<ApiResponse<Vec<FoundStock>>, ApiError> {
    let text = query.text("search", MAX_SEARCH_CHARS).unwrap_or_default();
    let limit = query.limit(DEFAULT_LIMIT, MAX_LIMIT);
    query.finish()?;
    let found = app
        .service()
        .stocks
        .search_stocks(&text, usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(ApiResponse::ok(found.into_iter().map(FoundStock::of).collect()))
}
