//! `DELETE /alerts/{id}`

use alerts::AlertId;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::{AlertsWrite, Allowed};
use crate::error::ApiError;
use crate::query::AlertPath;

/// An alert that is gone.
#[derive(Debug, Serialize, ToSchema)]
pub struct DeletedAlert {
    /// Which one.
    pub alert_id: Uuid,
    /// The same as `alert_id`.
    #[serde(rename = "alertId")]
    pub alert_id_again: Uuid,
    /// That it is gone.
    pub status: Deleted,
}

impl DeletedAlert {
    /// The one with this id.
    #[must_use]
    pub const fn of(id: AlertId) -> Self {
        Self {
            alert_id: id.0,
            alert_id_again: id.0,
            status: Deleted::Deleted,
        }
    }
}

/// That something is gone.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Deleted {
    /// It is gone.
    Deleted,
}

/// Delete an alert
///
/// For good. Its history stays readable.
#[utoipa::path(
    delete,
    path = "/alerts/{id}",
    tag = "Alerts",
    params(("id" = uuid::Uuid, Path, description = "The alert's id")),
    responses(
        (status = 200, description = "The alert is gone", body = Envelope<DeletedAlert>),
        (status = 404, description = "No such alert"),
    ),
    security(("ApiKeyHeader" = ["alerts:write"]))
)]
pub(super) async fn delete_alert(
    State(app): State<App>,
    who: Allowed<AlertsWrite>,
    AlertPath(id): AlertPath,
) -> Result<Reply<DeletedAlert>, ApiError> {
    app.service().alerts.delete_alert(&who.actor, id).await?;
    Ok(Reply::ok(DeletedAlert::of(id)))
}
