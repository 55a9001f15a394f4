//! `POST /alerts/history`

use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::answer::{Envelope, Reply};
use crate::auth::WithSession;
use crate::body::JsonObject;
use crate::error::{ApiError, Code};

/// Something that a first-party client notes down about an alert.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body, which nobody can send yet")]
pub struct RecordHistory {
    /// The alert.
    alert_id: Uuid,
    /// Its stock.
    #[schema(example = "AAPL")]
    symbol: String,
    /// What happened.
    #[schema(example = "paused")]
    action_type: String,
    /// The alert's status before.
    #[schema(example = "active")]
    previous_status: Option<String>,
    /// The alert's status afterwards.
    #[schema(example = "paused")]
    new_status: Option<String>,
    /// More about it.
    #[schema(value_type = Option<Object>)]
    alert_data: Option<Map<String, Value>>,
    /// The price at which it fired.
    #[schema(example = 200.01)]
    trigger_price: Option<f64>,
    /// What became of the notification.
    #[schema(example = "sent")]
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
/// For first-party clients: it takes a session or its token. API keys are refused with the reason `session_required`.
#[utoipa::path(
    post,
    path = "/alerts/history",
    tag = "Alerts",
    request_body(content = RecordHistory, description = "What happened"),
    responses(
        (status = 200, description = "It is in the history", body = Envelope<Recorded>),
        (status = 404, description = "No such alert"),
    ),
    security(("ApiKeyHeader" = []))
)]
pub(super) async fn record_alert_history(
    _who: WithSession,
    JsonObject(_body): JsonObject,
) -> Result<Reply<Recorded>, ApiError> {
    // Sessions come with sign-in: until then `WithSession` lets nobody through.
    Err(ApiError::new(
        Code::ServiceUnavailable,
        "signing in is not available on this service yet",
    ))
}
