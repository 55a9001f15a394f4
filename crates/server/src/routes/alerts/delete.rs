//! `DELETE /alerts/{id}`

use alerts::AlertId;

use crate::routes::prelude::*;

/// A deleted alert.
#[derive(Debug, Serialize, ToSchema)]
pub struct DeletedAlert {
    /// Unique id.
    pub alert_id: Uuid,
    /// Same as `alert_id`.
    #[serde(rename = "alertId")]
    pub alert_id_camel_case: Uuid,
    /// Always `deleted`.
    pub status: DeletedStatus,
}

impl DeletedAlert {
    pub(crate) const fn of(id: AlertId) -> Self {
        Self {
            alert_id: id.0,
            alert_id_camel_case: id.0,
            status: DeletedStatus::Deleted,
        }
    }
}

/// The status of a deleted object.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = Deleted)]
pub enum DeletedStatus {
    /// The object is deleted.
    Deleted,
}

/// Delete an alert
///
/// Deletes the alert permanently. Its history stays readable.
#[utoipa::path(
    delete,
    path = "/alerts/{id}",
    tag = "Alerts",
    params(("id" = uuid::Uuid, Path, description = "Alert id")),
    responses(
        (status = 200, description = "The alert is deleted", body = Envelope<DeletedAlert>),
        (status = 404, description = "Alert not found"),
    ),
    security(("ApiKeyHeader" = ["alerts:write"]))
)]
pub(super) async fn delete_alert(
    State(app): State<App>,
    caller: Authorized<AlertsWrite>,
    AlertPath(id): AlertPath,
) -> Result<ApiResponse<DeletedAlert>, ApiError> {
    app.service().alerts.delete_alert(&caller.actor, id).await?;
    Ok(ApiResponse::ok(DeletedAlert::of(id)))
}
