//! `GET /alerts/near`

use market::Decimal;
use service::alerts::NearAlert;

use super::explanation::AlertExplanation;
use crate::routes::prelude::*;

/// The default of `within_pct`.
const DEFAULT_WITHIN_PCT: i64 = 2;

/// Query parameters of the list.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handler reads them")]
pub struct NearAlertsParams {
    /// A past moment; the present one if it is missing.
    #[param(value_type = Option<String>, format = DateTime, example = "2026-03-02T15:04:00Z")]
    at: Option<String>,
    /// The largest distance from being true in percent, at most 100.
    #[param(value_type = Option<String>, default = 2, pattern = "^[0-9]{1,3}(\\.[0-9]{1,6})?$", example = "1.5")]
    within_pct: Option<f64>,
}

/// An alert near to firing, with its explanation.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = NearAlert)]
pub struct NearAlertView {
    /// Id of the alert.
    pub id: Uuid,
    /// Its stock; of an alert over many stocks the member's.
    #[schema(example = "AAPL")]
    pub symbol: String,
    /// Its distance from being true in percent: 0 if the condition is true; of alternatives the smallest, of conditions that must
    /// all be true the largest.
    #[schema(minimum = 0, example = 0.75)]
    pub distance_pct: f64,
    /// The explanation.
    #[serde(flatten)]
    pub explanation: AlertExplanation,
}

impl NearAlertView {
    fn of(near: NearAlert) -> Self {
        Self {
            id: near.id.0,
            symbol: near.symbol.to_string(),
            distance_pct: decimal(near.distance_pct),
            explanation: AlertExplanation::of(near.explained),
        }
    }
}

/// List the alerts near to firing
///
/// Returns the active alerts whose conditions are, or were at a past moment, at most some percent from being true, with their
/// explanations, the nearest first. Conditions without a distance, such as reminders, are never in it.
#[utoipa::path(
    get,
    path = "/alerts/near",
    tag = "Alerts",
    params(NearAlertsParams),
    responses((status = 200, description = "The alerts near to firing", body = Envelope<Vec<NearAlertView>>)),
    security(("ApiKeyHeader" = ["alerts:read"]))
)]
pub(super) async fn list_near_alerts(
    State(app): State<App>,
    caller: Authorized<AlertsRead>,
    mut query: Query,
) -> Result<ApiResponse<Vec<NearAlertView>>, ApiError> {
    let at = query.instant("at");
    let within = query.percent("within_pct");
    query.finish()?;
    let within = within.unwrap_or_else(|| Decimal::from_micros(DEFAULT_WITHIN_PCT * market::MICROS_PER_UNIT));
    let near = app.service().alerts.near_alerts(&caller.actor, at, within).await?;
    Ok(ApiResponse::ok(near.into_iter().map(NearAlertView::of).collect()))
}
