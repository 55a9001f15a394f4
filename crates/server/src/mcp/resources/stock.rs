//! `bellwether://stocks/{symbol}`

use market::Symbol;

use crate::mcp::tools::ToolError;
use crate::routes::stocks::view::{StockFundamentals, StockResponse};
use crate::state::App;

/// Returns the data of `GET /stocks/{symbol}?fields=fundamentals`.
pub(super) async fn read(app: &App, symbol: Symbol) -> Result<StockResponse, ToolError> {
    let service = app.service();
    let stock = service.stocks.stock(symbol).await?;
    let fundamentals = StockFundamentals::of(service.stocks.fundamentals(symbol).await?);
    Ok(StockResponse::of(stock, Some(fundamentals)))
}
