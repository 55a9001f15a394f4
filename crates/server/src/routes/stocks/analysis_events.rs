//! What `GET /stocks/{symbol}/analysis` tells, event by event.
//!
//! The figures have one form, in which a language model gets them, too; the structs here read it, so that what is described is
//! what is sent.

use axum::response::sse::Event;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use service::analyst::{Advised, Look, Proposal, WhyNot};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::{PartialSchema, ToSchema};

use crate::error::{ApiError, ErrorBody};
use crate::values::{price, timestamp};

/// The first event, `figures`: what the stock's own history says.
#[derive(Debug, Serialize, ToSchema)]
pub struct AnalysisFigures {
    /// The stock.
    #[schema(example = "AAPL")]
    pub symbol: String,
    /// What you mean to do: `buy` or `sell`.
    #[schema(example = "buy")]
    pub intention: String,
    /// The price that it was looked at, in dollars a share.
    #[schema(example = 169)]
    pub price: f64,
    /// The price at which you mean to do it, if you said so.
    #[schema(required, example = 160)]
    pub target_price: Option<f64>,
    /// When it was looked at.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub as_of: String,
    /// What was measured.
    pub figures: StockFigures,
}

/// What was measured of a stock. Prices are dollars per today's share; the price stands in for today's close.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct StockFigures {
    /// How many completed sessions it is made of, of the last 420.
    #[schema(minimum = 0, example = 420)]
    pub sessions: u64,
    /// How far the stock moves.
    pub volatility: FiguresOfVolatility,
    /// Where it is going.
    pub trend: FiguresOfTrend,
    /// Wilder's RSI(14).
    #[schema(required, minimum = 0, maximum = 100, example = 38.6)]
    pub rsi: Option<f64>,
    /// Prices below the current one at which it has turned, the nearest first.
    pub supports: Vec<TurningLevel>,
    /// Prices above the current one at which it has turned, the nearest first.
    pub resistances: Vec<TurningLevel>,
    /// The highest price of the 52 weeks before today.
    #[schema(required, example = 199.62)]
    pub high_52_weeks: Option<f64>,
    /// The lowest price of the 52 weeks before today.
    #[schema(required, example = 150.43)]
    pub low_52_weeks: Option<f64>,
    /// The next earnings, if a date within 90 days is known.
    #[schema(required)]
    pub earnings: Option<DateAhead>,
    /// The next ex-dividend date, if one within 90 days is known.
    #[schema(required)]
    pub ex_dividend: Option<DateAhead>,
}

/// How far a stock moves.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FiguresOfVolatility {
    /// The standard deviation of the last 20 daily returns, in percent.
    #[schema(example = 0.91)]
    pub daily_move_pct: f64,
    /// The average true range of a day (14 sessions), in percent of the price.
    #[schema(example = 1.94)]
    pub daily_range_pct: f64,
    /// Whether that was `measured`; or the least (`floored`) or the most (`capped`) that is taken; or, with fewer than 21
    /// sessions, `assumed`.
    #[schema(value_type = BasisName, example = "measured")]
    pub basis: String,
}

/// Where a stock is going, by its averages.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FiguresOfTrend {
    /// `up`, `down`, `mixed`, or `unknown` with fewer than 50 sessions.
    #[schema(value_type = DirectionName, example = "mixed")]
    pub direction: String,
    /// The average of 50 sessions, in dollars.
    #[schema(required, example = 185.7)]
    pub sma_50: Option<f64>,
    /// The average of 200 sessions, in dollars.
    #[schema(required, example = 184.4)]
    pub sma_200: Option<f64>,
    /// By how many percent the average of 50 sessions has changed in 20 sessions.
    #[schema(required, example = -2.9)]
    pub sma_50_change_20_sessions_pct: Option<f64>,
}

/// A price at which a stock has turned.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TurningLevel {
    /// Dollars a share.
    #[schema(example = 165.16)]
    pub price: f64,
    /// How often it has turned there within the last 252 sessions.
    #[schema(minimum = 1, example = 2)]
    pub touches: u32,
    /// The touches weighed: by their volume (¼ to 4), and half after each 126 sessions.
    #[schema(example = 1.34)]
    pub strength: f64,
    /// The volume of the sessions that turned there, as a multiple of the usual one; null where no volume is known.
    #[schema(required, example = 1.27)]
    pub volume_ratio: Option<f64>,
    /// The session of the latest turn.
    #[schema(format = Date, example = "2023-10-26")]
    pub last_touch: String,
}

/// A date that is known to come.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DateAhead {
    /// The date.
    #[schema(format = Date, example = "2026-05-11")]
    pub date: String,
    /// In how many calendar days; 0 is today.
    #[schema(minimum = 0, example = 14)]
    pub days_ahead: u32,
    /// In how many sessions, that of the date included.
    #[schema(minimum = 0, example = 10)]
    pub sessions_ahead: u64,
    /// Dollars a share, if it is a dividend whose amount is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = 0.24)]
    pub amount: Option<f64>,
}

/// An event `alert`: an alert that makes sense for what you mean to do. There are up to five, the most useful first.
#[derive(Debug, Serialize, ToSchema)]
pub struct ProposedAlert {
    /// What it is for: `own_target`, `entry`, `deeper_entry`, `breakout`, `target`, `farther_target`, `stop`, `momentum`,
    /// `trend` or `event`.
    #[schema(example = "entry")]
    pub role: &'static str,
    /// Why, in plain words with the numbers.
    #[schema(example = "AAPL has turned at about 165.16 twice within the last year, last on 2023-10-26.")]
    pub rationale: String,
    /// It can be sent to `POST /alerts` as it is.
    #[schema(value_type = Object)]
    pub body: Value,
}

/// The event `summary`: the figures in a few sentences.
#[derive(Debug, Serialize, ToSchema)]
pub struct AnalysisSummary {
    /// The sentences.
    #[schema(example = "AAPL is at 169.00, 9.0% below its 50-day average.")]
    pub text: String,
}

/// The last event, `done`.
#[derive(Debug, Serialize, ToSchema)]
pub struct AnalysisDone {
    /// Who thought of the alerts: `rules`, or the language model's name.
    #[schema(example = "rules")]
    pub by: String,
    /// Why it was the rules where a language model was to be asked; null if it was not to be, or answered.
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
    /// Where figures of volatility come from.
    BasisName = all(&["measured", "floored", "capped", "assumed"]), Type::String;
    /// Where a stock is going.
    DirectionName = all(&["up", "down", "mixed", "unknown"]), Type::String;
    /// Why the rules answered where a model was to be asked.
    FallBackName = {
        let mut words = all(WhyNot::NAMES);
        words.push(Value::Null);
        words
    }, utoipa::openapi::schema::SchemaType::from_iter([Type::String, Type::Null]);
}

/// The event `figures`.
///
/// # Errors
/// 500, if the figures have another form than the one that is described.
pub(super) fn figures(look: &Look) -> Result<Event, ApiError> {
    let wish = look.wish();
    event(
        "figures",
        &AnalysisFigures {
            symbol: wish.symbol.to_string(),
            intention: wish.intention.name().to_owned(),
            price: price(look.price()),
            target_price: wish.target_price.map(price),
            as_of: timestamp(look.taken_at()),
            figures: serde_json::from_value(look.analysis().to_json()).map_err(ApiError::internal)?,
        },
    )
}

/// All events after the figures.
///
/// # Errors
/// 500, if one of them cannot be written.
pub(super) fn rest(advised: &Advised) -> Result<Vec<Event>, ApiError> {
    let proposals = advised.advice.proposals.iter();
    let mut events: Vec<Event> = proposals
        .map(|proposal| event("alert", &proposed(proposal)))
        .collect::<Result<_, _>>()?;
    let text = advised.advice.summary.clone();
    events.push(event("summary", &AnalysisSummary { text })?);
    let done = AnalysisDone {
        by: advised.author.name().to_owned(),
        fell_back: advised.fell_back.as_ref().map(WhyNot::name),
    };
    events.push(event("done", &done)?);
    Ok(events)
}

/// The event `error`, after which nothing comes: what an error envelope has in `error`.
pub(super) fn error(refused: &ApiError) -> Event {
    let body = ErrorBody {
        code: refused.code(),
        message: refused.message().to_owned(),
        details: None::<Map<String, Value>>,
    };
    event("error", &body).unwrap_or_else(|_| Event::default().event("error").data("{}"))
}

fn proposed(proposal: &Proposal) -> ProposedAlert {
    ProposedAlert {
        role: proposal.role.name(),
        rationale: proposal.rationale.clone(),
        body: proposal.body.clone(),
    }
}

/// An event with its data in one line of JSON.
fn event(name: &str, data: &impl Serialize) -> Result<Event, ApiError> {
    let data = alerts::json::to_vec(data).map_err(ApiError::internal)?;
    let text = String::from_utf8(data).map_err(ApiError::internal)?;
    Ok(Event::default().event(name).data(text))
}
