//! `GET /stocks/{symbol}/candles`

use axum::extract::State;
use market::Bar;
use serde::Serialize;
use service::stocks::CandleRange;
use utoipa::{IntoParams, ToSchema};

use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::{Allowed, StocksRead};
use crate::document::names::CandleRangeName;
use crate::error::ApiError;
use crate::query::{Query, SymbolPath};
use crate::values::{date, price};

pub(crate) const RANGES: &[(&str, CandleRange)] = &[
    ("1m", CandleRange::Month1),
    ("3m", CandleRange::Month3),
    ("6m", CandleRange::Month6),
    ("1y", CandleRange::Year1),
    ("5y", CandleRange::Year5),
    ("max", CandleRange::Max),
];

/// How far back.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handler reads them")]
pub struct CandleParams {
    /// How far back the candles go; `1y` if it is left out.
    #[param(inline)]
    range: Option<CandleRangeName>,
}

/// A session of a stock.
#[derive(Debug, Serialize, ToSchema)]
pub struct Candle {
    /// The session's date in New York.
    #[schema(format = Date, example = "2026-03-02")]
    pub date: String,
    /// The first price.
    #[schema(example = 187.2)]
    pub open: f64,
    /// The highest price.
    #[schema(example = 190.4)]
    pub high: f64,
    /// The lowest price.
    #[schema(example = 186.9)]
    pub low: f64,
    /// The last price.
    #[schema(example = 189.2)]
    pub close: f64,
    /// The session's shares.
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
/// Oldest first; the last one is the running session's, as far as it has come. In shares of today: splits are taken
/// into account.
#[utoipa::path(
    get,
    path = "/stocks/{symbol}/candles",
    tag = "Stocks",
    params(
        ("symbol" = String, Path, description = "The stock, in any case", pattern = "^[A-Za-z0-9.-]{1,10}$", example = "AAPL"),
        CandleParams
    ),
    responses(
        (status = 200, description = "The candles", body = Envelope<Vec<Candle>>),
        (status = 404, description = "No such stock"),
    ),
    security(("ApiKeyHeader" = ["stocks:read"]))
)]
pub(super) async fn list_candles(
    State(app): State<App>,
    _who: Allowed<StocksRead>,
    SymbolPath(symbol): SymbolPath,
    mut query: Query,
) -> Result<Reply<Vec<Candle>>, ApiError> {
    let range = query.word("range", RANGES).unwrap_or(CandleRange::Year1);
    query.finish()?;
    let bars = app.service().stocks.candles(symbol, range).await?;
    Ok(Reply::ok(bars.into_iter().map(Candle::of).collect()))
}
