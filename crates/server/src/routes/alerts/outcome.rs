//! `GET /alerts/{id}/outcome`

use axum::extract::State;
use market::Decimal;
use serde::Serialize;
use service::alerts::{Horizon, Outcome};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::{AlertsRead, Allowed};
use crate::error::ApiError;
use crate::query::AlertPath;
use crate::values::{date, decimal, price, timestamp};

/// How the firings of an alert turned out.
#[derive(Debug, Serialize, ToSchema)]
pub struct AlertOutcome {
    /// The alert.
    pub alert_id: Uuid,
    /// Its stock.
    #[schema(example = "AAPL")]
    pub symbol: String,
    /// The stock that it is compared with.
    #[schema(example = "SPY")]
    pub benchmark: String,
    /// Its firings, newest first, at most 100.
    pub outcomes: Vec<FiringOutcome>,
}

/// How a firing turned out.
#[derive(Debug, Serialize, ToSchema)]
pub struct FiringOutcome {
    /// When it fired.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub triggered_at: String,
    /// At what price, in shares of that day; null for what goes by dates.
    #[schema(required, example = 200.01)]
    pub trigger_price: Option<f64>,
    /// The session from whose close is counted: that of the firing or, between two, the one before.
    #[schema(required, format = Date, example = "2026-03-02")]
    pub base_date: Option<String>,
    /// The stock's close of that session, in shares of that day; null until it is known.
    #[schema(required, example = 200.64)]
    pub base_close: Option<f64>,
    /// What followed after 1, 5 and 20 sessions.
    #[schema(min_items = 3, max_items = 3)]
    pub after: Vec<AfterFiring>,
}

/// What happened up to so many sessions after a firing. Moves are in percent; splits are taken into account, dividends are not.
#[derive(Debug, Serialize, ToSchema)]
pub struct AfterFiring {
    /// How many sessions after.
    #[schema(minimum = 1, example = 5)]
    pub sessions: u16,
    /// The session that this is.
    #[schema(required, format = Date, example = "2026-03-09")]
    pub date: Option<String>,
    /// The stock's close then, in shares of that day; null while it is not known, like all that follows from it.
    #[schema(required, example = 205.3)]
    pub close: Option<f64>,
    /// How far the stock moved since the close of the base date.
    #[schema(required, example = 2.322_568)]
    pub move_pct: Option<f64>,
    /// How far it moved since the price at which the alert fired.
    #[schema(required, example = 2.644_868)]
    pub since_trigger_pct: Option<f64>,
    /// How far the benchmark moved since the close of the base date.
    #[schema(required, example = 0.81)]
    pub benchmark_pct: Option<f64>,
    /// By how many percentage points the stock moved more than the benchmark.
    #[schema(required, example = 1.512_568)]
    pub excess_pct: Option<f64>,
}

impl FiringOutcome {
    fn of(outcome: Outcome) -> Self {
        let Outcome { firing, scorecard } = outcome;
        Self {
            triggered_at: timestamp(firing.at),
            trigger_price: firing.price.map(price),
            base_date: scorecard.base_date.map(date),
            base_close: scorecard.base_close.map(price),
            after: scorecard.horizons.map(AfterFiring::of).into(),
        }
    }
}

impl AfterFiring {
    fn of(horizon: Horizon) -> Self {
        let reached = horizon.reached;
        Self {
            sessions: horizon.sessions,
            date: horizon.date.map(date),
            close: reached.map(|reached| price(reached.close)),
            move_pct: reached.and_then(|reached| percent(reached.move_pct)),
            since_trigger_pct: reached.and_then(|reached| percent(reached.since_firing_pct?)),
            benchmark_pct: reached.and_then(|reached| percent(reached.benchmark_pct?)),
            excess_pct: reached.and_then(|reached| percent(reached.excess_pct?)),
        }
    }
}

/// Percents are shown to a millionth.
fn percent(percent: f64) -> Option<f64> {
    Decimal::from_f64(percent).ok().map(decimal)
}

/// Get what followed an alert's firings
///
/// For each time it fired, what its stock did 1, 5 and 20 sessions later, next to the benchmark; also of an alert that was
/// deleted. What is not known yet is null.
#[utoipa::path(
    get,
    path = "/alerts/{id}/outcome",
    tag = "Alerts",
    params(("id" = uuid::Uuid, Path, description = "The alert's id")),
    responses(
        (status = 200, description = "What followed", body = Envelope<AlertOutcome>),
        (status = 404, description = "No such alert"),
    ),
    security(("ApiKeyHeader" = ["alerts:read"]))
)]
pub(super) async fn get_alert_outcome(
    State(app): State<App>,
    who: Allowed<AlertsRead>,
    AlertPath(id): AlertPath,
) -> Result<Reply<AlertOutcome>, ApiError> {
    let found = app.service().alerts.alert_outcomes(&who.actor, id).await?;
    Ok(Reply::ok(AlertOutcome {
        alert_id: id.0,
        symbol: found.symbol.to_string(),
        benchmark: found.benchmark.to_string(),
        outcomes: found.outcomes.into_iter().map(FiringOutcome::of).collect(),
    }))
}
