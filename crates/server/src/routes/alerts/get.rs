//! `GET /alerts/{id}`

use axum::extract::State;

use super::view::Alert;
use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::{AlertsRead, Allowed};
use crate::error::ApiError;
use crate::query::AlertPath;

/// Get an alert
///
/// With its stock's figures and whether it is judged at present.
#[utoipa::path(
    get,
    path = "/alerts/{id}",
    tag = "Alerts",
    params(("id" = uuid::Uuid, Path, description = "The alert's id")),
    responses(
        (status = 200, description = "The alert", body = Envelope<Alert>),
        (status = 404, description = "No such alert"),
    ),
    security(("ApiKeyHeader" = ["alerts:read"]))
)]
pub(super) async fn get_alert(
    State(app): State<App>,
    who: Allowed<AlertsRead>,
    AlertPath(id): AlertPath,
) -> Result<Reply<Alert>, ApiError> {
    let detail = app.service().alerts.alert(&who.actor, id).await?;
    Ok(Reply::ok(Alert::of(detail)))
}
