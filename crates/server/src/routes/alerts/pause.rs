//! `POST /alerts/{id}/pause`

use service::alerts::AlertDetail;

use crate::routes::prelude::*;

/// A paused alert.
#[derive(Debug, Serialize, ToSchema)]
pub struct PausedAlert {
    /// Unique id.
    pub alert_id: Uuid,
    /// Always `paused`.
    #[schema(value_type = String, pattern = "^paused$", example = "paused")]
    pub status: &'static str,
}

impl PausedAlert {
    pub(crate) fn of(detail: &AlertDetail) -> Self {
        Self {
            alert_id: detail.stored.alert.id.0,
            status: detail.stored.alert.status.name(),
        }
    }
}

/// Pause an alert
///
/// Stops the evaluation of an active alert until it is activated again. A paused alert stays paused. Any other status returns
/// 422.
#[utoipa::path(
    post,
    path = "/alerts/{id}/pause",
    tag = "Alerts",
    params(("id" = uuid::Uuid, Path, description = "Alert id")),
    responses(
        (status = 200, description = "The alert is paused", body = Envelope<PausedAlert>),
        (status = 404, description = "Alert not found"),
    ),
    security(("ApiKeyHeader" = ["alerts:write"]))
)]
pub(super) async fn pause_alert(
    State(app): State<App>,
    caller: Authorized<AlertsWrite>,
    AlertPath(id): AlertPath,
    _body: IgnoredJsonBody,
) -> Result<ApiResponse<PausedAlert>, ApiError> {
    let detail = app.service().alerts.pause_alert(&caller.actor, id).await?;
    Ok(ApiResponse::ok(PausedAlert::of(&detail)))
}
