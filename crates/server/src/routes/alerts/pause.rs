//! `POST /alerts/{id}/pause`

use axum::extract::State;
use serde::Serialize;
use service::alerts::AlertDetail;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::{AlertsWrite, Allowed};
use crate::body::NoBody;
use crate::error::ApiError;
use crate::query::AlertPath;

/// An alert that is put aside.
#[derive(Debug, Serialize, ToSchema)]
pub struct PausedAlert {
    /// Which one.
    pub alert_id: Uuid,
    /// `paused`.
    #[schema(value_type = String, pattern = "^paused$", example = "paused")]
    pub status: &'static str,
}

impl PausedAlert {
    /// As the service shows it.
    #[must_use]
    pub fn of(detail: &AlertDetail) -> Self {
        Self {
            alert_id: detail.stored.alert.id.0,
            status: detail.stored.alert.status.name(),
        }
    }
}

/// Pause an alert
///
/// It is not judged any more until it is activated. A paused alert stays paused. Only an active one can be paused:
/// any other is 422.
#[utoipa::path(
    post,
    path = "/alerts/{id}/pause",
    tag = "Alerts",
    params(("id" = uuid::Uuid, Path, description = "The alert's id")),
    responses(
        (status = 200, description = "The alert is paused", body = Envelope<PausedAlert>),
        (status = 404, description = "No such alert"),
    ),
    security(("ApiKeyHeader" = ["alerts:write"]))
)]
pub(super) async fn pause_alert(
    State(app): State<App>,
    who: Allowed<AlertsWrite>,
    AlertPath(id): AlertPath,
    _body: NoBody,
) -> Result<Reply<PausedAlert>, ApiError> {
    let detail = app.service().alerts.pause_alert(&who.actor, id).await?;
    Ok(Reply::ok(PausedAlert::of(&detail)))
}
