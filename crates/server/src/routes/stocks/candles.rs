//! `GET /stocks/{symbol}/candles`

use evaluation::stocks::CandleRange;
use market::Bar;

use crate::document::names::CandleRangeName;
use crate::routes::prelude::*;

pub(crate) const CANDLE_RANGES: &[(&str, CandleRange)] = &[
    ("1m", CandleRange::Month1),
    ("3m", CandleRange::Month3),
    ("6m", CandleRange::Month6),
    ("1y", CandleRange::Year1),
    ("5y", CandleRange::Year5),
    ("max", CandleRange::Max),
];

/// Query parameters: the range.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handler reads them")]
pub struct CandleParams {
    /// Range of the candles; defaults to `1y`.
    #[param(inline)]
    range: Option<CandleRangeName>,
}

/// A daily candle.
#[derive(Debug, Serialize, ToSchema)]
pub struct Candle {
    /// Date of the session in New York.
    #[schema(format = Date, example = "2026-03-02")]
    pub date: String,
    /// Opening price.
    #[schema(example = 187.2)]
    pub open: f64,
    /// Highest price.
    #[schema(example = 190.4)]
    pub high: f64,
    /// Lowest price.
    #[schema(example = 186.9)]
    pub low: f64,
    /// Closing price.
    #[schema(example = 189.2)]
    pub close: f64,
    /// Volume in shares.
    #[schema(minimum = 0, example = 51_234_000)]
    pub volume: i64,
}

impl Candle {
    fn of(bar: Bar) -> Self {
        Self {
            date: date(bar.date),
            open: price(bar.open),
            high: price(bar.high),
            low: price(bar.low),
            close: price(bar.close),
            volume: bar.volume,
        }
    }
}

/// List a stock's daily candles
///
/// Returns daily candles, oldest first. The last one covers the current session so far. Prices are adjusted for splits.
#[utoipa::path(
    get,
    path = "/stocks/{symbol}/candles",
    tag = "Stocks",
    params(
        ("symbol" = String, Path, description = "Stock symbol (case-insensitive)", pattern = "^[A-Za-z0-9.-]{1,10}$", example = "AAPL"),
        CandleParams
    ),
    responses(
        (status = 200, description = "The candles", body = Envelope<Vec<Candle>>),
        (status = 404, description = "Stock not found"),
    ),
    security(("ApiKeyHeader" = ["stocks:read"]))
)]
pub(super) async fn list_candles(
    State(app): State<App>,
    _caller: Authorized<StocksRead>,
    SymbolPath(symbol): SymbolPath,
    mut query: Query,
) -> Result<ApiResponse<Vec<Candle>>, ApiError> {
    let range = query.choice("range", CANDLE_RANGES).unwrap_or(CandleRange::Year1);
    query.finish()?;
    let bars = app.service().stocks.candles(symbol, range).await?;
    Ok(ApiResponse::ok(bars.into_iter().map(Candle::of).collect()))
}
