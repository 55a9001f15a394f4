//! `bellwether://stocks/{symbol}`

use market::Symbol;

use crate::app::App;
use crate::mcp::tools::ToolError;
use crate::routes::stocks::view::{Stock, StockFundamentals};

/// The same as `GET /stocks/{symbol}?fields=fundamentals`.
pub(super) async fn read(app: &App, symbol: Symbol) -> Result<Stock, ToolError> {
    let service = app.service();
    let stock = service.stocks.stock(symbol).await?;
    let fundamentals = StockFundamentals::of(service.stocks.fundamentals(symbol).await?);
    Ok(Stock::of(stock, Some(fundamentals)))
}
