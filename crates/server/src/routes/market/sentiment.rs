//! `GET /market/sentiment`

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::view::CoverageView;
use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::{Allowed, StocksRead};
use crate::document::names::MoodName;
use crate::error::ApiError;
use crate::values::{date, decimal};

/// How the market as a whole feels, as far as its prices tell.
#[derive(Debug, Serialize, ToSchema)]
pub struct MarketSentiment {
    /// The session that it is about, the latest of which prices are known; null while none is.
    #[schema(required, format = Date, example = "2026-03-02")]
    pub date: Option<String>,
    /// How many companies are counted; the same as `coverage.stocks`.
    #[schema(minimum = 0, example = 503)]
    pub stocks: u32,
    /// How many companies are counted, of how many.
    pub coverage: CoverageView,
    /// How many of them are above their previous close.
    #[schema(minimum = 0, example = 310)]
    pub advancers: u32,
    /// How many are below it.
    #[schema(minimum = 0, example = 155)]
    pub decliners: u32,
    /// How many are at it.
    #[schema(minimum = 0, example = 38)]
    pub unchanged: u32,
    /// Advancers ÷ decliners; null without decliners.
    #[schema(required, minimum = 0, example = 2)]
    pub advance_decline_ratio: Option<f64>,
    /// Of those with an average of 50 sessions, how many percent are above it; null if none has one.
    #[schema(required, minimum = 0, maximum = 100, example = 61.5)]
    pub above_ma_50_pct: Option<f64>,
    /// The same of 200 sessions.
    #[schema(required, minimum = 0, maximum = 100, example = 58.2)]
    pub above_ma_200_pct: Option<f64>,
    /// How many went above everything of the 52 weeks before the session.
    #[schema(minimum = 0, example = 12)]
    pub new_highs_52w: u32,
    /// How many went below everything of the 52 weeks before the session.
    #[schema(minimum = 0, example = 3)]
    pub new_lows_52w: u32,
    /// All of that as one number, to a tenth: the mean of up to four percentages. Of the companies that moved, how many have
    /// risen; `above_ma_50_pct`; `above_ma_200_pct`; and 50 plus half the percentage points by which new highs outnumber new
    /// lows among those with a past. What cannot be told is left out; null if nothing can.
    #[schema(required, minimum = 0, maximum = 100, example = 59.3)]
    pub score: Option<f64>,
    /// The score as a word: below 20 very bearish, below 40 bearish, 40 to 60 neutral, above 60 bullish, above 80 very
    /// bullish. Null if fewer than 20 companies are counted.
    #[schema(required, value_type = Option<MoodName>)]
    pub label: Option<&'static str>,
}

/// Get the market's sentiment
///
/// Its breadth: how many companies of the catalog moved which way in the latest session of which prices are known, where they
/// stand in their own past, and a score that follows from these counts and from nothing else.
#[utoipa::path(
    get,
    path = "/market/sentiment",
    tag = "Market",
    responses((status = 200, description = "How the market feels", body = Envelope<MarketSentiment>)),
    security(("ApiKeyHeader" = ["stocks:read"]))
)]
pub(super) async fn get_market_sentiment(
    State(app): State<App>,
    _who: Allowed<StocksRead>,
) -> Result<Reply<MarketSentiment>, ApiError> {
    let found = app.service().market.sentiment();
    Ok(Reply::ok(MarketSentiment {
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
        label: found.mood.map(service::market::Mood::name),
    }))
}
