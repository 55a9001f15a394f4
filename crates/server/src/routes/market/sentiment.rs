//! `GET /market/sentiment`

use super::view::CoverageView;
use crate::document::names::MoodName;
use crate::routes::prelude::*;

/// Market sentiment, derived from market breadth.
#[derive(Debug, Serialize, ToSchema)]
pub struct MarketSentiment {
    /// The latest session with known prices; null if there is none.
    #[schema(required, format = Date, example = "2026-03-02")]
    pub date: Option<String>,
    /// Number of companies counted; same as `coverage.stocks`.
    #[schema(minimum = 0, example = 503)]
    pub stocks: u32,
    /// Number of companies counted and in total.
    pub coverage: CoverageView,
    /// Companies above their previous close.
    #[schema(minimum = 0, example = 310)]
    pub advancers: u32,
    /// Companies below their previous close.
    #[schema(minimum = 0, example = 155)]
    pub decliners: u32,
    /// Companies at their previous close.
    #[schema(minimum = 0, example = 38)]
    pub unchanged: u32,
    /// Advancers ÷ decliners; null if there are no decliners.
    #[schema(required, minimum = 0, example = 2)]
    pub advance_decline_ratio: Option<f64>,
    /// Percentage of companies above their 50-day moving average, of those that have one; null if none has.
    #[schema(required, minimum = 0, maximum = 100, example = 61.5)]
    pub above_ma_50_pct: Option<f64>,
    /// Percentage of companies above their 200-day moving average, of those that have one; null if none has.
    #[schema(required, minimum = 0, maximum = 100, example = 58.2)]
    pub above_ma_200_pct: Option<f64>,
    /// Companies with a new 52-week high in the session.
    #[schema(minimum = 0, example = 12)]
    pub new_highs_52w: u32,
    /// Companies with a new 52-week low in the session.
    #[schema(minimum = 0, example = 3)]
    pub new_lows_52w: u32,
    /// Score from 0 to 100, rounded to a tenth: the mean of up to four percentages. These are the share of advancers among
    /// advancers and decliners; `above_ma_50_pct`; `above_ma_200_pct`; and 50 plus half the percentage points by which new highs
    /// exceed new lows among companies with a price history. Unavailable parts are omitted; null if no part is available.
    #[schema(required, minimum = 0, maximum = 100, example = 59.3)]
    pub score: Option<f64>,
    /// Label of the score: below 20 very bearish, below 40 bearish, 40 to 60 neutral, above 60 bullish, above 80 very bullish. Null if
    /// fewer than 20 companies are counted.
    #[schema(required, value_type = Option<MoodName>)]
    pub label: Option<&'static str>,
}

/// Get the market's sentiment
///
/// Returns the market breadth of the latest session with known prices: advancing and declining companies of the catalog, their
/// position relative to averages and 52-week ranges, and a score calculated only from these counts.
#[utoipa::path(
    get,
    path = "/market/sentiment",
    tag = "Market",
    responses((status = 200, description = "The market sentiment", body = Envelope<MarketSentiment>)),
    security(("ApiKeyHeader" = ["stocks:read"]))
)]
pub(super) async fn get_market_sentiment(
    State(app): State<App>,
    _caller: Authorized<StocksRead>,
) -> Result<ApiResponse<MarketSentiment>, ApiError> {
    let found = app.service().market.sentiment();
    Ok(ApiResponse::ok(MarketSentiment {
        date: found.session.map(date),
        stocks: found.coverage.stocks,
        coverage: CoverageView::of(found.coverage),
        advancers: found.advancers,
        decliners: found.decliners,
        unchanged: found.unchanged,
        advance_decline_ratio: found.advance_decline_ratio.map(decimal),
        above_ma_50_pct: found.above_ma_50_pct.map(decimal),
        above_ma_200_pct: found.above_ma_200_pct.map(decimal),
        new_highs_52w: found.new_highs,
        new_lows_52w: found.new_lows,
        score: found.score.map(decimal),
        label: found.label.map(evaluation::market::SentimentLabel::name),
    }))
}
