//! `POST /alerts`

use axum::extract::State;
use http::StatusCode;
use service::alerts::Created;

use super::view::Alert;
use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::{AlertsWrite, Allowed};
use crate::body::JsonObject;
use crate::document::alert_body::CreateAlert;
use crate::error::ApiError;

/// Create an alert
///
/// Makes an active alert of the account. If it has an equivalent one already (same symbol, condition, threshold and
/// parameters; active, paused or inactive), that one is answered unchanged, with 200 instead of 201.
///
/// An unknown symbol is 404. Without any price of the stock a percent change is 503; all others are made with
/// `initial_price` null. Unknown members are ignored; of two members with one name the last counts.
#[utoipa::path(
    post,
    path = "/alerts",
    tag = "Alerts",
    request_body(content = CreateAlert, description = "What to wait for, and how to tell"),
    responses(
        (status = 201, description = "A new alert", body = Envelope<Alert>),
        (status = 200, description = "There was an equivalent alert already; it is unchanged", body = Envelope<Alert>),
        (status = 404, description = "No such stock"),
        (status = 503, description = "A percent change without a price of the stock; or the service is not available"),
    ),
    security(("ApiKeyHeader" = ["alerts:write"]))
)]
pub(super) async fn create_alert(
    State(app): State<App>,
    who: Allowed<AlertsWrite>,
    JsonObject(body): JsonObject,
) -> Result<Reply<Alert>, ApiError> {
    Ok(match app.service().create_alert(&who.actor, &body).await? {
        Created::New(detail) => Reply::with(StatusCode::CREATED, Alert::of(*detail)),
        Created::Existing(detail) => Reply::ok(Alert::of(*detail)),
    })
}
