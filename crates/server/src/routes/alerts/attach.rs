//! `POST /alerts/verify/attach`

use axum::extract::State;
use utoipa::ToSchema;
use uuid::Uuid;

use super::view::Alert;
use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::WithSession;
use crate::body::JsonObject;
use crate::error::ApiError;

/// Which of a guest's alerts.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
pub struct AttachAlert {
    /// The alert.
    alert_id: Uuid,
}

/// Take over a guest's alert
///
/// Gives an alert that was asked for with the account's address, but without the account, to the account. The address has to be
/// confirmed. An alert that was not verified yet is active then. If the account has an equivalent alert, that one is answered,
/// and the guest's deleted. One that is the account's already stays as it is. It takes a session or its token; API keys are
/// refused with the reason `session_required`.
#[utoipa::path(
    post,
    path = "/alerts/verify/attach",
    tag = "Alerts",
    request_body(content = AttachAlert, description = "Which alert"),
    responses(
        (status = 200, description = "The alert, which is the account's", body = Envelope<Alert>),
        (status = 403, description = "The address is not confirmed, the account has no room for another active alert, or it takes a session; `details` says which"),
        (status = 404, description = "No alert of a guest with this address"),
        (status = 503, description = "A percent change without a price of the stock; or the service is not available"),
    ),
    security(("SessionCookie" = []))
)]
pub(super) async fn attach_alert(
    State(app): State<App>,
    who: WithSession,
    JsonObject(body): JsonObject,
) -> Result<Reply<Alert>, ApiError> {
    let detail = app.service().guest_alerts.attach_guest_alert(&who.actor, &body).await?;
    Ok(Reply::ok(Alert::of(detail)))
}
