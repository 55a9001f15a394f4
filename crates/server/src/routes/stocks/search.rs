//! `GET /stocks`

use axum::extract::State;
use market::records::StockRow;
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use super::view::StockDetails;
use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::{Allowed, StocksRead};
use crate::error::ApiError;
use crate::query::Query;

const DEFAULT_LIMIT: u32 = 20;
const MAX_LIMIT: u32 = 100;
const MAX_SEARCH_CHARS: usize = 100;

/// Which stocks.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handler reads them")]
pub struct SearchParams {
    /// Those whose symbol or name has this in it, in any case; without it, all.
    #[param(max_length = 100, pattern = "^[^\\u0000]*$", example = "apple")]
    search: Option<String>,
    /// At most so many; more than 100 are cut to 100.
    #[param(value_type = Option<u64>, minimum = 1, default = 20)]
    limit: Option<u32>,
}

/// A stock of the catalog.
#[derive(Debug, Serialize, ToSchema)]
pub struct FoundStock {
    /// The stock.
    #[schema(example = "AAPL")]
    pub symbol: String,
    /// The company's name.
    #[schema(example = "Apple Inc.")]
    pub name: String,
    /// What it is: `stock`, `etf`, `adr`, ...
    #[serde(rename = "type")]
    #[schema(required, example = "stock")]
    pub kind: Option<String>,
    /// Whether it is still traded.
    pub is_active: bool,
    /// Where the company belongs.
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
/// Those whose symbol begins with the text first, then those whose name does, then all others that have it.
#[utoipa::path(
    get,
    path = "/stocks",
    tag = "Stocks",
    params(SearchParams),
    responses((status = 200, description = "The stocks that were found", body = Envelope<Vec<FoundStock>>)),
    security(("ApiKeyHeader" = ["stocks:read"]))
)]
pub(super) async fn search_stocks(
    State(app): State<App>,
    _who: Allowed<StocksRead>,
    mut query: Query,
) -> Result<Reply<Vec<FoundStock>>, ApiError> {
    let text = query.text("search", MAX_SEARCH_CHARS).unwrap_or_default();
    let limit = query.limit(DEFAULT_LIMIT, MAX_LIMIT);
    query.finish()?;
    let found = app
        .service()
        .stocks
        .search_stocks(&text, usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(Reply::ok(found.into_iter().map(FoundStock::of).collect()))
}
