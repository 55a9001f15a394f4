//! `GET /market/performance`

use evaluation::market::{DatedPrice, StockPerformance};
use evaluation::stocks::CandleRange;

use crate::document::names::CandleRangeName;
use crate::routes::prelude::*;
use crate::routes::stocks::candles::CANDLE_RANGES;

/// Query parameters: symbols and period.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handler reads them")]
pub struct StockPerformanceParams {
    /// 1 to 100 comma-separated symbols.
    #[param(inline, style = Form, explode = false, min_items = 1, max_items = 100, value_type = Vec<crate::document::names::SymbolText>, example = json!(["AAPL", "SPY"]))]
    symbols: String,
    /// Period; defaults to `1y`.
    #[param(inline)]
    period: Option<CandleRangeName>,
}

/// A stock's performance over a period. All prices are adjusted for splits.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Performance)]
pub struct StockPerformanceView {
    /// Stock symbol.
    #[schema(example = "AAPL")]
    pub symbol: String,
    /// Company name.
    #[schema(example = "Apple Inc.")]
    pub name: String,
    /// Session of the first price.
    #[schema(required, format = Date, example = "2025-02-28")]
    pub first_date: Option<String>,
    /// Close of that session.
    #[schema(required, example = 160)]
    pub first_price: Option<f64>,
    /// Session of the last price.
    #[schema(required, format = Date, example = "2026-03-02")]
    pub last_date: Option<String>,
    /// Last price.
    #[schema(required, example = 189.2)]
    pub last_price: Option<f64>,
    /// Return from the first to the last price, in percent; null unless the last session is later than the first.
    #[schema(required, example = 18.25)]
    pub return_pct: Option<f64>,
}

impl StockPerformanceView {
    fn of(found: StockPerformance) -> Self {
        let date_of = |dated: Option<DatedPrice>| dated.map(|dated| date(dated.date));
        let price_of = |dated: Option<DatedPrice>| dated.map(|dated| price(dated.price));
        Self {
            symbol: found.symbol.to_string(),
            name: found.name,
            first_date: date_of(found.first),
            first_price: price_of(found.first),
            last_date: date_of(found.last),
            last_price: price_of(found.last),
            return_pct: found.return_pct.map(decimal),
        }
    }
}

/// List the performance of stocks
///
/// The period ends with the last price and begins with the last known close on its first day. A stock without such a close is
/// measured from its first close. Prices are adjusted for splits, not for dividends. Unknown stocks are omitted.
#[utoipa::path(
    get,
    path = "/market/performance",
    tag = "Market",
    params(StockPerformanceParams),
    responses((status = 200, description = "The performance of each stock", body = Envelope<Vec<StockPerformanceView>>)),
    security(("ApiKeyHeader" = ["stocks:read"]))
)]
pub(super) async fn list_performance(
    State(app): State<App>,
    _caller: Authorized<StocksRead>,
    mut query: Query,
) -> Result<ApiResponse<Vec<StockPerformanceView>>, ApiError> {
    let symbols = query.symbols("symbols");
    let period = query.choice("period", CANDLE_RANGES).unwrap_or(CandleRange::Year1);
    query.finish()?;
    let found = app.service().market.stock_performance(&symbols, period).await?;
    Ok(ApiResponse::ok(
        found.into_iter().map(StockPerformanceView::of).collect(),
    ))
}
