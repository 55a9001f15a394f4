//! `PUT /alerts/{id}`

use super::view::AlertView;
use crate::document::alert_body::UpdateAlert;
use crate::routes::prelude::*;

/// Update an alert
///
/// Omitted fields keep their values; `parameters`, `note` and `tags` are replaced as a whole. The result is validated like a new alert: a threshold
/// that the condition does not accept returns 422. A new condition requires its own threshold and parameters; the old ones are
/// not carried over. An active alert is re-armed and keeps its `initial_price`; any other alert keeps its status. A change
/// of only `note` and `tags` does not re-arm. A body without fields to change has no effect.
#[utoipa::path(
    put,
    path = "/alerts/{id}",
    tag = "Alerts",
    params(("id" = uuid::Uuid, Path, description = "Alert id")),
    request_body(content = UpdateAlert, description = "The fields to change"),
    responses(
        (status = 200, description = "The updated alert", body = Envelope<AlertView>),
        (status = 404, description = "Alert not found"),
        (status = 409, description = "The account already has an equivalent alert"),
    ),
    security(("ApiKeyHeader" = ["alerts:write"]))
)]
pub(super) async fn update_alert(
    State(app): State<App>,
    caller: Authorized<AlertsWrite>,
    AlertPath(id): AlertPath,
    JsonObject(body): JsonObject,
) -> Result<ApiResponse<AlertView>, ApiError> {
    let detail = app.service().alerts.update_alert(&caller.actor, id, &body).await?;
    Ok(ApiResponse::ok(AlertView::of(detail)))
}
