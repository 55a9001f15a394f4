//! `PUT /alerts/{id}`

use axum::extract::State;

use super::view::Alert;
use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::{AlertsWrite, Allowed};
use crate::body::JsonObject;
use crate::document::alert_body::UpdateAlert;
use crate::error::ApiError;
use crate::query::AlertPath;

/// Update an alert
///
/// What is left out keeps its value; `parameters` are replaced as a whole. The resulting alert is judged as a new one
/// would be: a threshold that the condition does not take is 422. Another condition demands its own threshold and parameters;
/// those of the old one do not carry over. An active alert is armed anew and keeps its `initial_price`; any other keeps its
/// status. A body that names nothing to change changes nothing.
#[utoipa::path(
    put,
    path = "/alerts/{id}",
    tag = "Alerts",
    params(("id" = uuid::Uuid, Path, description = "The alert's id")),
    request_body(content = UpdateAlert, description = "What is to change"),
    responses(
        (status = 200, description = "The alert as it is now", body = Envelope<Alert>),
        (status = 404, description = "No such alert"),
        (status = 409, description = "Another alert of the account is the same as what would come of it"),
    ),
    security(("ApiKeyHeader" = ["alerts:write"]))
)]
pub(super) async fn update_alert(
    State(app): State<App>,
    who: Allowed<AlertsWrite>,
    AlertPath(id): AlertPath,
    JsonObject(body): JsonObject,
) -> Result<Reply<Alert>, ApiError> {
    let detail = app.service().alerts.update_alert(&who.actor, id, &body).await?;
    Ok(Reply::ok(Alert::of(detail)))
}
