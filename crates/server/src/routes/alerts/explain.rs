//! `GET /alerts/{id}/explain`

use super::explanation::AlertExplanation;
use crate::routes::prelude::*;

/// Query parameters of an explanation.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handler reads them")]
pub struct ExplainParams {
    /// A past moment, not before the alert's creation; the present one if it is missing.
    #[param(value_type = Option<String>, format = DateTime, example = "2026-03-02T15:04:00Z")]
    at: Option<String>,
    /// The stock of an alert over many stocks; required for these.
    #[param(pattern = "^[A-Za-z0-9.-]{1,10}$", example = "AAPL")]
    symbol: Option<String>,
}

/// Explain an alert
///
/// Says why the alert fires or does not: each comparison of its condition with its values and its distance, and what else holds the
/// alert back (the market is closed, a cooldown, a snooze, missing data …). A past moment is calculated from the stored bars
/// and the alert's history.
#[utoipa::path(
    get,
    path = "/alerts/{id}/explain",
    tag = "Alerts",
    params(("id" = uuid::Uuid, Path, description = "Alert id"), ExplainParams),
    responses(
        (status = 200, description = "Why the alert fires or does not", body = Envelope<AlertExplanation>),
        (status = 404, description = "Alert not found"),
    ),
    security(("ApiKeyHeader" = ["alerts:read"]))
)]
pub(super) async fn explain_alert(
    State(app): State<App>,
    caller: Authorized<AlertsRead>,
    AlertPath(id): AlertPath,
    mut query: Query,
) -> Result<ApiResponse<AlertExplanation>, ApiError> {
    let at = query.instant("at");
    let member = query.symbol("symbol");
    query.finish()?;
    let found = app
        .service()
        .alerts
        .explain_alert(&caller.actor, id, member, at)
        .await?;
    Ok(ApiResponse::ok(AlertExplanation::of(found)))
}
