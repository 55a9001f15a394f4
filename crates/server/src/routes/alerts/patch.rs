//! `PATCH /alerts/{id}`

use super::view::AlertView;
use crate::document::alert_body::PatchAlert;
use crate::routes::prelude::*;

/// Patch an alert
///
/// The same as `PUT /alerts/{id}`, which changes only the fields that are sent, too. It also takes `snooze`.
#[utoipa::path(
    patch,
    path = "/alerts/{id}",
    tag = "Alerts",
    params(("id" = uuid::Uuid, Path, description = "Alert id")),
    request_body(content = PatchAlert, description = "The fields to change"),
    responses(
        (status = 200, description = "The updated alert", body = Envelope<AlertView>),
        (status = 404, description = "Alert not found"),
        (status = 409, description = "The account already has an equivalent alert"),
    ),
    security(("ApiKeyHeader" = ["alerts:write"]))
)]
pub(super) async fn patch_alert(
    State(app): State<App>,
    caller: Authorized<AlertsWrite>,
    AlertPath(id): AlertPath,
    JsonObject(body): JsonObject,
) -> Result<ApiResponse<AlertView>, ApiError> {
    let detail = app.service().alerts.patch_alert(&caller.actor, id, &body).await?;
    Ok(ApiResponse::ok(AlertView::of(detail)))
}
