//! `POST /alerts/history`

use service::alerts::RecordHistoryRequest;

use crate::routes::prelude::*;

/// Confirmation that the entry was recorded.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Recorded)]
pub struct RecordHistoryResponse {
    /// Always `true`.
    pub success: bool,
}

/// Record an entry in an alert's history
///
/// For first-party clients. Requires a session or its access token; API keys are refused with the reason `session_required`.
/// The alert itself does not change. The entry's details contain `"source": "client"`. Also works for deleted alerts.
#[utoipa::path(
    post,
    path = "/alerts/history",
    tag = "Alerts",
    request_body(content = RecordHistoryRequest, description = "The history entry"),
    responses(
        (status = 200, description = "The entry was recorded", body = Envelope<RecordHistoryResponse>),
        (status = 404, description = "Alert not found"),
    ),
    security(("SessionCookie" = []))
)]
pub(super) async fn record_alert_history(
    State(app): State<App>,
    caller: AuthenticatedSession,
    JsonObject(body): JsonObject,
) -> Result<ApiResponse<RecordHistoryResponse>, ApiError> {
    app.service().alerts.record_history(&caller.actor, &body).await?;
    Ok(ApiResponse::ok(RecordHistoryResponse { success: true }))
}
