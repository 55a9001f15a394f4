//! `GET /market/performance`

use axum::extract::State;
use serde::Serialize;
use service::market::{DatedPrice, StockPerformance};
use service::stocks::CandleRange;
use utoipa::{IntoParams, ToSchema};

use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::{Allowed, StocksRead};
use crate::document::names::CandleRangeName;
use crate::error::ApiError;
use crate::query::Query;
use crate::routes::stocks::candles::RANGES;
use crate::values::{date, decimal, price};

/// Whose performance, and since when.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handler reads them")]
pub struct PerformanceParams {
    /// 1 to 100 symbols with commas between them.
    #[param(inline, style = Form, explode = false, min_items = 1, max_items = 100, value_type = Vec<crate::document::names::SymbolText>, example = json!(["AAPL", "SPY"]))]
    symbols: String,
    /// How far back; `1y` if it is left out.
    #[param(inline)]
    period: Option<CandleRangeName>,
}

/// How far a stock moved over a period. All prices are in shares of today.
#[derive(Debug, Serialize, ToSchema)]
pub struct Performance {
    /// The stock.
    #[schema(example = "AAPL")]
    pub symbol: String,
    /// The company's name.
    #[schema(example = "Apple Inc.")]
    pub name: String,
    /// The session that is counted from.
    #[schema(required, format = Date, example = "2025-02-28")]
    pub first_date: Option<String>,
    /// Its close.
    #[schema(required, example = 160)]
    pub first_price: Option<f64>,
    /// The session of the last price.
    #[schema(required, format = Date, example = "2026-03-02")]
    pub last_date: Option<String>,
    /// The last price.
    #[schema(required, example = 189.2)]
    pub last_price: Option<f64>,
    /// From the first price to the last in percent; null unless a later session follows the first.
    #[schema(required, example = 18.25)]
    pub return_pct: Option<f64>,
}

impl Performance {
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

/// List how far stocks moved
///
/// Over a period that ends with the last price and begins with the last close there was on its first day; a stock that has
/// none is followed from its first close on. Splits are taken into account, dividends are not. A stock that is not known is left
/// out.
#[utoipa::path(
    get,
    path = "/market/performance",
    tag = "Market",
    params(PerformanceParams),
    responses((status = 200, description = "How far they moved", body = Envelope<Vec<Performance>>)),
    security(("ApiKeyHeader" = ["stocks:read"]))
)]
pub(super) async fn list_performance(
    State(app): State<App>,
    _who: Allowed<StocksRead>,
    mut query: Query,
) -> Result<Reply<Vec<Performance>>, ApiError> {
    let symbols = query.symbols("symbols");
    let period = query.word("period", RANGES).unwrap_or(CandleRange::Year1);
    query.finish()?;
    let found = app.service().market.stock_performance(&symbols, period).await?;
    Ok(Reply::ok(found.into_iter().map(Performance::of).collect()))
}
