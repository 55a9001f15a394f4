//! `GET /stocks/{symbol}`

use axum::extract::State;
use utoipa::IntoParams;

use super::view::{Stock, StockFundamentals};
use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::{Allowed, StocksRead};
use crate::document::names::FieldName;
use crate::error::ApiError;
use crate::query::{Query, SymbolPath};

const MAX_FIELDS: usize = 100;

/// What is shown beside the stock.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handler reads them")]
pub struct StockParams {
    /// With commas between them. `fundamentals` adds what is known of the company's business.
    #[param(inline, style = Form, explode = false, max_items = 100, value_type = Option<Vec<FieldName>>)]
    fields: Option<String>,
}

/// Get a stock
///
/// With its figures, as of the last price.
#[utoipa::path(
    get,
    path = "/stocks/{symbol}",
    tag = "Stocks",
    params(
        ("symbol" = String, Path, description = "The stock, in any case", pattern = "^[A-Za-z0-9.-]{1,10}$", example = "AAPL"),
        StockParams
    ),
    responses(
        (status = 200, description = "The stock", body = Envelope<Stock>),
        (status = 404, description = "No such stock"),
    ),
    security(("ApiKeyHeader" = ["stocks:read"]))
)]
pub(super) async fn get_stock(
    State(app): State<App>,
    _who: Allowed<StocksRead>,
    SymbolPath(symbol): SymbolPath,
    mut query: Query,
) -> Result<Reply<Stock>, ApiError> {
    let fault = "must be fundamentals, or left out";
    let fields = query.list("fields", MAX_FIELDS, fault, |field| {
        (field == "fundamentals").then_some(())
    });
    query.finish()?;
    let service = app.service();
    let stock = service.stocks.stock(symbol).await?;
    let fundamentals = match fields {
        Some(_) => Some(StockFundamentals::of(service.stocks.fundamentals(symbol).await?)),
        None => None,
    };
    Ok(Reply::ok(Stock::of(stock, fundamentals)))
}
