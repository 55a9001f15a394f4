//! `POST /alerts/history`

use axum::extract::State;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::auth::AuthenticatedSession;
use crate::body::JsonObject;
use crate::document::names::{ActionName, HistoryStatusName, StatusName};
use crate::error::ApiError;
use crate::response::{ApiResponse, Envelope};
use crate::state::App;

/// A history entry written by a first-party client.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
#[schema(as = RecordHistory)]
pub struct RecordHistoryRequest {
    /// Alert id.
    alert_id: Uuid,
    /// Stock symbol.
    #[schema(example = "AAPL")]
    symbol: String,
    /// The action.
    #[schema(value_type = ActionName, example = "paused")]
    action_type: String,
    /// Status before the action.
    #[schema(value_type = Option<StatusName>, example = "active")]
    previous_status: Option<String>,
    /// Status after the action.
    #[schema(value_type = HistoryStatusName, example = "paused")]
    new_status: String,
    /// Details, at most 16 KiB.
    #[schema(value_type = Option<Object>)]
    alert_data: Option<Map<String, Value>>,
    /// Price at which the alert fired.
    #[schema(minimum = 0.000_001, maximum = 1_000_000_000, example = 200.01)]
    trigger_price: Option<f64>,
    /// Status of the notification.
    #[schema(min_length = 1, max_length = 64, example = "sent")]
    notification_status: Option<String>,
}

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
