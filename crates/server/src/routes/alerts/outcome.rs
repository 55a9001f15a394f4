//! `GET /alerts/{id}/outcome`

use market::Decimal;
use service::alerts::{Horizon, ScoredFiring};

use crate::routes::prelude::*;

/// Price development after an alert's firings.
#[derive(Debug, Serialize, ToSchema)]
pub struct AlertOutcome {
    /// Alert id.
    pub alert_id: Uuid,
    /// Stock symbol.
    #[schema(example = "AAPL")]
    pub symbol: String,
    /// Symbol of the benchmark.
    #[schema(example = "SPY")]
    pub benchmark: String,
    /// The alert's firings, newest first, at most 100.
    pub outcomes: Vec<FiringOutcome>,
}

/// Price development after one firing.
#[derive(Debug, Serialize, ToSchema)]
pub struct FiringOutcome {
    /// Time of the firing.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub triggered_at: String,
    /// Price at the firing, not adjusted for later splits; null for date conditions.
    #[schema(required, example = 200.01)]
    pub trigger_price: Option<f64>,
    /// Base session: the session of the firing or, outside sessions, the previous one.
    #[schema(required, format = Date, example = "2026-03-02")]
    pub base_date: Option<String>,
    /// Close of the base session, not adjusted for later splits; null until it is known.
    #[schema(required, example = 200.64)]
    pub base_close: Option<f64>,
    /// Outcomes after 1, 5 and 20 sessions.
    #[schema(min_items = 3, max_items = 3)]
    pub after: Vec<HorizonOutcome>,
}

/// Outcome a number of sessions after a firing. Moves are in percent, adjusted for splits but not for dividends.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AfterFiring)]
pub struct HorizonOutcome {
    /// Number of sessions after the base session.
    #[schema(minimum = 1, example = 5)]
    pub sessions: u16,
    /// Date of that session.
    #[schema(required, format = Date, example = "2026-03-09")]
    pub date: Option<String>,
    /// Close of that session, not adjusted for later splits; null until it is known, like all values derived from it.
    #[schema(required, example = 205.3)]
    pub close: Option<f64>,
    /// The stock's move since the close of the base session.
    #[schema(required, example = 2.322_568)]
    pub move_pct: Option<f64>,
    /// The stock's move since the price of the firing.
    #[schema(required, example = 2.644_868)]
    pub since_trigger_pct: Option<f64>,
    /// The benchmark's move since the close of the base session.
    #[schema(required, example = 0.81)]
    pub benchmark_pct: Option<f64>,
    /// The stock's move minus the benchmark's move, in percentage points.
    #[schema(required, example = 1.512_568)]
    pub excess_pct: Option<f64>,
}

impl FiringOutcome {
    fn of(outcome: ScoredFiring) -> Self {
        let ScoredFiring { firing, scorecard } = outcome;
        Self {
            triggered_at: timestamp(firing.at),
            trigger_price: firing.price.map(price),
            base_date: scorecard.base_date.map(date),
            base_close: scorecard.base_close.map(price),
            after: scorecard.horizons.map(HorizonOutcome::of).into(),
        }
    }
}

impl HorizonOutcome {
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

/// Rounds a percentage to millionths.
fn percent(percent: f64) -> Option<f64> {
    Decimal::from_f64(percent).ok().map(decimal)
}

/// The stock of an alert over many stocks.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handler reads them")]
pub struct MemberParams {
    /// The stock of an alert over many stocks; required for these.
    #[param(pattern = "^[A-Za-z0-9.-]{1,10}$", example = "AAPL")]
    symbol: Option<String>,
}

/// Get the outcome of an alert's firings
///
/// Returns the stock's move 1, 5 and 20 sessions after each firing, compared with the benchmark. Also works for deleted alerts.
/// Values that are not known yet are null.
#[utoipa::path(
    get,
    path = "/alerts/{id}/outcome",
    tag = "Alerts",
    params(("id" = uuid::Uuid, Path, description = "Alert id"), MemberParams),
    responses(
        (status = 200, description = "The outcome of each firing", body = Envelope<AlertOutcome>),
        (status = 404, description = "Alert not found"),
    ),
    security(("ApiKeyHeader" = ["alerts:read"]))
)]
pub(super) async fn get_alert_outcome(
    State(app): State<App>,
    caller: Authorized<AlertsRead>,
    AlertPath(id): AlertPath,
    mut query: Query,
) -> Result<ApiResponse<AlertOutcome>, ApiError> {
    let member = query.symbol("symbol");
    query.finish()?;
    let found = app.service().alerts.alert_outcomes(&caller.actor, id, member).await?;
    Ok(ApiResponse::ok(AlertOutcome {
        alert_id: id.0,
        symbol: found.symbol.to_string(),
        benchmark: found.benchmark.to_string(),
        outcomes: found.outcomes.into_iter().map(FiringOutcome::of).collect(),
    }))
}
