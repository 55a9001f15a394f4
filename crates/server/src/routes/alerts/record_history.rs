//! `POST /alerts/history`

use axum::extract::State;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::WithSession;
use crate::body::JsonObject;
use crate::document::names::{ActionName, HistoryStatusName, StatusName};
use crate::error::ApiError;

/// Something that a first-party client notes down about an alert.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
pub struct RecordHistory {
    /// The alert.
    alert_id: Uuid,
    /// Its stock.
    #[schema(example = "AAPL")]
    symbol: String,
    /// What happened.
    #[schema(value_type = ActionName, example = "paused")]
    action_type: String,
    /// The alert's status before.
    #[schema(value_type = Option<StatusName>, example = "active")]
    previous_status: Option<String>,
    /// The alert's status afterwards.
    #[schema(value_type = HistoryStatusName, example = "paused")]
    new_status: String,
    /// More about it, at most 16 KiB.
    #[schema(value_type = Option<Object>)]
    alert_data: Option<Map<String, Value>>,
    /// The price at which it fired.
    #[schema(minimum = 0.000_001, maximum = 1_000_000_000, example = 200.01)]
    trigger_price: Option<f64>,
    /// What became of the notification.
    #[schema(min_length = 1, max_length = 64, example = "sent")]
    notification_status: Option<String>,
}

/// That it was noted down.
#[derive(Debug, Serialize, ToSchema)]
pub struct Recorded {
    /// Always `true`.
    pub success: bool,
}

/// Note something down in an alert's history
///
/// For first-party clients: it takes a session or its token. API keys are refused with the reason `session_required`. Nothing
/// of the alert changes, and the entry says `"source": "client"` among its details. The alert may be deleted by now.
#[utoipa::path(
    post,
    path = "/alerts/history",
    tag = "Alerts",
    request_body(content = RecordHistory, description = "What happened"),
    responses(
        (status = 200, description = "It is in the history", body = Envelope<Recorded>),
        (status = 404, description = "No such alert"),
    ),
    security(("SessionCookie" = []))
)]
pub(super) async fn record_alert_history(
    State(app): State<App>,
    who: WithSession,
    JsonObject(body): JsonObject,
) -> Result<Reply<Recorded>, ApiError> {
    app.service().alerts.record_history(&who.actor, &body).await?;
    Ok(Reply::ok(Recorded { success: true }))
}
