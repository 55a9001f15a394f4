//! `GET /alerts/{id}`

use super::view::AlertView;
use crate::routes::prelude::*;

/// Get an alert
///
/// Returns the alert with its stock's figures and its evaluation state.
#[utoipa::path(
    get,
    path = "/alerts/{id}",
    tag = "Alerts",
    params(("id" = uuid::Uuid, Path, description = "Alert id")),
    responses(
        (status = 200, description = "The alert", body = Envelope<AlertView>),
        (status = 404, description = "Alert not found"),
    ),
    security(("ApiKeyHeader" = ["alerts:read"]))
)]
pub(super) async fn get_alert(
    State(app): State<App>,
    caller: Authorized<AlertsRead>,
    AlertPath(id): AlertPath,
) -> Result<ApiResponse<AlertView>, ApiError> {
    let detail = app.service().alerts.alert(&caller.actor, id).await?;
    Ok(ApiResponse::ok(AlertView::of(detail)))
}
