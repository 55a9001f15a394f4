//! Events of `GET /stocks/{symbol}/analysis`.
//!
//! The figures have the same JSON format as in the language model's prompt. The structs here parse that format, so the documented
//! schema always matches the sent data.

use axum::response::sse::Event;
use serde::Deserialize;
use serde_json::Value;
use utoipa::PartialSchema;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use watchlist::analyst::{FallbackReason, Proposal, RuleAnalysis, StockAdvice};

use crate::routes::prelude::*;

/// Data of the first event, `figures`: figures from the stock's price history.
#[derive(Debug, Serialize, ToSchema)]
pub struct AnalysisFigures {
    /// Stock symbol.
    #[schema(example = "AAPL")]
    pub symbol: String,
    /// Intention: `buy` or `sell`.
    #[schema(example = "buy")]
    pub intention: String,
    /// Price at the time of the analysis, in US dollars per share.
    #[schema(example = 169)]
    pub price: f64,
    /// Target price, if one was sent.
    #[schema(required, example = 160)]
    pub target_price: Option<f64>,
    /// Time of the analysis.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub as_of: String,
    /// The figures.
    pub figures: StockFigures,
}

/// Figures of a stock. Prices are in US dollars per share, adjusted for splits; the current price counts as today's close.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct StockFigures {
    /// Number of completed sessions used, of the last 420.
    #[schema(minimum = 0, example = 420)]
    pub sessions: u64,
    /// Volatility.
    pub volatility: VolatilityFigures,
    /// Trend.
    pub trend: TrendFigures,
    /// Wilder's RSI(14).
    #[schema(required, minimum = 0, maximum = 100, example = 38.6)]
    pub rsi: Option<f64>,
    /// Support levels below the current price, nearest first.
    pub supports: Vec<SupportResistanceLevel>,
    /// Resistance levels above the current price, nearest first.
    pub resistances: Vec<SupportResistanceLevel>,
    /// 52-week high, excluding today.
    #[schema(required, example = 199.62)]
    pub high_52_weeks: Option<f64>,
    /// 52-week low, excluding today.
    #[schema(required, example = 150.43)]
    pub low_52_weeks: Option<f64>,
    /// Next earnings date, if one within 90 days is known.
    #[schema(required)]
    pub earnings: Option<UpcomingEventDate>,
    /// Next ex-dividend date, if one within 90 days is known.
    #[schema(required)]
    pub ex_dividend: Option<UpcomingEventDate>,
}

/// Volatility of a stock.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = FiguresOfVolatility)]
pub struct VolatilityFigures {
    /// Standard deviation of the last 20 daily returns, in percent.
    #[schema(example = 0.91)]
    pub daily_move_pct: f64,
    /// Average true range (14 sessions), in percent of the price.
    #[schema(example = 1.94)]
    pub daily_range_pct: f64,
    /// Basis of the values: `measured`, raised to the minimum (`floored`), lowered to the maximum (`capped`), or, with fewer than
    /// 21 sessions, `assumed`.
    #[schema(value_type = BasisName, example = "measured")]
    pub basis: String,
}

/// Trend of a stock, derived from its moving averages.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = FiguresOfTrend)]
pub struct TrendFigures {
    /// Direction: `up`, `down`, `mixed`, or `unknown` with fewer than 50 sessions.
    #[schema(value_type = DirectionName, example = "mixed")]
    pub direction: String,
    /// 50-day moving average, in US dollars.
    #[schema(required, example = 185.7)]
    pub sma_50: Option<f64>,
    /// 200-day moving average, in US dollars.
    #[schema(required, example = 184.4)]
    pub sma_200: Option<f64>,
    /// Change of the 50-day moving average over 20 sessions, in percent.
    #[schema(required, example = -2.9)]
    pub sma_50_change_20_sessions_pct: Option<f64>,
}

/// A support or resistance level.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = TurningLevel)]
pub struct SupportResistanceLevel {
    /// Price in US dollars per share.
    #[schema(example = 165.16)]
    pub price: f64,
    /// Number of price reversals at this level within the last 252 sessions.
    #[schema(minimum = 1, example = 2)]
    pub touches: u32,
    /// Weighted touches: weighted by volume (factor ¼ to 4), with a half-life of 126 sessions.
    #[schema(example = 1.34)]
    pub strength: f64,
    /// Volume of the sessions with a reversal at this level, relative to the usual volume; null if unknown.
    #[schema(required, example = 1.27)]
    pub volume_ratio: Option<f64>,
    /// Session of the latest reversal.
    #[schema(format = Date, example = "2023-10-26")]
    pub last_touch: String,
}

/// A known future date.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = DateAhead)]
pub struct UpcomingEventDate {
    /// The date.
    #[schema(format = Date, example = "2026-05-11")]
    pub date: String,
    /// Days until the date, in calendar days; 0 is today.
    #[schema(minimum = 0, example = 14)]
    pub days_ahead: u32,
    /// Sessions until the date, including the session of the date.
    #[schema(minimum = 0, example = 10)]
    pub sessions_ahead: u64,
    /// Dividend in US dollars per share, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = 0.24)]
    pub amount: Option<f64>,
}

/// Data of an `alert` event: a proposed alert. There are up to five, the most useful first.
#[derive(Debug, Serialize, ToSchema)]
pub struct ProposedAlert {
    /// Purpose: `own_target`, `entry`, `deeper_entry`, `breakout`, `target`, `farther_target`, `stop`, `momentum`,
    /// `trend` or `event`.
    #[schema(example = "entry")]
    pub role: &'static str,
    /// Rationale in plain text, with numbers.
    #[schema(example = "AAPL has turned at about 165.16 twice within the last year, last on 2023-10-26.")]
    pub rationale: String,
    /// Request body for `POST /alerts`.
    #[schema(value_type = Object)]
    pub body: Value,
}

/// Data of the `summary` event: the figures in a few sentences.
#[derive(Debug, Serialize, ToSchema)]
pub struct AnalysisSummary {
    /// Summary text.
    #[schema(example = "AAPL is at 169.00, 9.0% below its 50-day average.")]
    pub text: String,
}

/// Data of the last event, `done`.
#[derive(Debug, Serialize, ToSchema)]
pub struct AnalysisDone {
    /// Author of the alerts: `rules`, or the language model's name.
    #[schema(example = "rules")]
    pub by: String,
    /// Reason why the rules replaced the language model; null if no model is configured or if it responded.
    #[schema(required, value_type = FallBackName)]
    pub fell_back: Option<&'static str>,
}

macro_rules! words {
    ($($(#[doc = $doc:literal])* $name:ident = $words:expr, $types:expr;)*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                let words: Vec<Value> = $words;
                ObjectBuilder::new().schema_type($types).enum_values(Some(words)).into()
            }
        }

        impl ToSchema for $name {
            fn name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
        }
    )*};
}

fn all(words: &[&str]) -> Vec<Value> {
    words.iter().copied().map(Value::from).collect()
}

words! {
    /// Basis of volatility figures.
    BasisName = all(&["measured", "floored", "capped", "assumed"]), Type::String;
    /// Direction of a trend.
    DirectionName = all(&["up", "down", "mixed", "unknown"]), Type::String;
    /// Reason why the rules replaced the language model.
    FallBackName = {
        let mut words = all(FallbackReason::NAMES);
        words.push(Value::Null);
        words
    }, utoipa::openapi::schema::SchemaType::from_iter([Type::String, Type::Null]);
}

/// Creates the event `figures`.
///
/// # Errors
/// 500 if the figures do not match the documented schema.
pub(super) fn figures(analysis: &RuleAnalysis) -> Result<Event, ApiError> {
    let request = analysis.request();
    event(
        "figures",
        &AnalysisFigures {
            symbol: request.symbol.to_string(),
            intention: request.intention.name().to_owned(),
            price: price(analysis.price()),
            target_price: request.target_price.map(price),
            as_of: timestamp(analysis.taken_at()),
            figures: serde_json::from_value(analysis.analysis().to_json()).map_err(ApiError::internal)?,
        },
    )
}

/// Creates all events after the figures.
///
/// # Errors
/// 500 if an event cannot be serialized.
pub(super) fn events_after_figures(advised: &StockAdvice) -> Result<Vec<Event>, ApiError> {
    let proposals = advised.advice.proposals.iter();
    let mut events: Vec<Event> = proposals
        .map(|proposal| event("alert", &proposed(proposal)))
        .collect::<Result<_, _>>()?;
    let text = advised.advice.summary.clone();
    events.push(event("summary", &AnalysisSummary { text })?);
    let done = AnalysisDone {
        by: advised.author.name().to_owned(),
        fell_back: advised.fallback.as_ref().map(FallbackReason::name),
    };
    events.push(event("done", &done)?);
    Ok(events)
}

/// Creates the final event `error`. Its data is the same as `error` in an error envelope.
pub(super) fn error(refused: &ApiError) -> Event {
    event("error", refused.body()).unwrap_or_else(|_| Event::default().event("error").data("{}"))
}

fn proposed(proposal: &Proposal) -> ProposedAlert {
    ProposedAlert {
        role: proposal.role.name(),
        rationale: proposal.rationale.clone(),
        body: proposal.body.clone(),
    }
}

/// Creates an event with its data in one line of JSON.
fn event(name: &str, data: &impl Serialize) -> Result<Event, ApiError> {
    let data = alerts::json::to_vec(data).map_err(ApiError::internal)?;
    let text = String::from_utf8(data).map_err(ApiError::internal)?;
    Ok(Event::default().event(name).data(text))
}
