//! `POST /alerts/verify/attach`

use service::alerts::AttachAlertRequest;

use super::view::AlertView;
use crate::routes::prelude::*;

/// Attach a guest alert to the account
///
/// Attaches an alert that was created with the account's email address but without signing in. The address must be confirmed.
/// An unverified alert becomes active. If the account has an equivalent alert, the response is that alert and the guest alert is
/// deleted. An alert that already belongs to the account stays unchanged. Requires a session or its access token; API keys are
/// refused with the reason `session_required`.
#[utoipa::path(
    post,
    path = "/alerts/verify/attach",
    tag = "Alerts",
    request_body(content = AttachAlertRequest, description = "The guest alert to attach"),
    responses(
        (status = 200, description = "The alert, which now belongs to the account", body = Envelope<AlertView>),
        (status = 403,
         description = "The address is not confirmed, the limit of active alerts is reached, or a session is required; see `details`"),
        (status = 404, description = "No guest alert with this id and the account's address"),
        (status = 503, description = "A percent change has no price of the stock, or the service is not available"),
    ),
    security(("SessionCookie" = []))
)]
pub(super) async fn attach_alert(
    State(app): State<App>,
    caller: AuthenticatedSession,
    JsonObject(body): JsonObject,
) -> Result<ApiResponse<AlertView>, ApiError> {
    let detail = app
        .service()
        .guest_alerts
        .attach_guest_alert(&caller.actor, &body)
        .await?;
    Ok(ApiResponse::ok(AlertView::of(detail)))
}
