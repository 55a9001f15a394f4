//! `GET /stocks/{symbol}`

use super::view::{StockFundamentals, StockResponse};
use crate::document::names::FieldName;
use crate::routes::prelude::*;

const MAX_FIELDS: usize = 100;

/// Query parameters: additional fields.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handler reads them")]
pub struct StockParams {
    /// Comma-separated list. `fundamentals` adds the company's fundamentals.
    #[param(inline, style = Form, explode = false, max_items = 100, value_type = Option<Vec<FieldName>>)]
    fields: Option<String>,
}

/// Get a stock
///
/// Returns the stock with its figures, as of the last price.
#[utoipa::path(
    get,
    path = "/stocks/{symbol}",
    tag = "Stocks",
    params(
        ("symbol" = String, Path, description = "Stock symbol (case-insensitive)", pattern = "^[A-Za-z0-9.-]{1,10}$", example = "AAPL"),
        StockParams
    ),
    responses(
        (status = 200, description = "The stock", body = Envelope<StockResponse>),
        (status = 404, description = "Stock not found"),
    ),
    security(("ApiKeyHeader" = ["stocks:read"]))
)]
pub(super) async fn get_stock(
    State(app): State<App>,
    _caller: Authorized<StocksRead>,
    SymbolPath(symbol): SymbolPath,
    mut query: Query,
) -> Result<ApiResponse<StockResponse>, ApiError> {
    let message = "must be fundamentals or omitted";
    let fields = query.list("fields", MAX_FIELDS, message, |field| {
        (field == "fundamentals").then_some(())
    });
    query.finish()?;
    let service = app.service();
    let stock = service.stocks.stock(symbol).await?;
    let fundamentals = match fields {
        Some(_) => Some(StockFundamentals::of(service.stocks.fundamentals(symbol).await?)),
        None => None,
    };
    Ok(ApiResponse::ok(StockResponse::of(stock, fundamentals)))
}
