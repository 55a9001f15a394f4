//! `POST /alerts/verify`

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::body::JsonObject;
use crate::document::names::StatusName;
use crate::error::ApiError;

/// The token of a guest's mail.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
pub struct VerifyAlert {
    /// The token, as the link in the mail has it.
    #[schema(min_length = 1, example = "6n1JmXb0Pj6Cq5vVw3d9qjVZ0m1m4Yh2m8oXl1y7C9A")]
    token: String,
}

/// A guest's alert that is active now.
#[derive(Debug, Serialize, ToSchema)]
pub struct VerifiedAlert {
    /// Which one.
    pub alert_id: Uuid,
    /// Its stock.
    #[schema(example = "AAPL")]
    pub symbol: String,
    /// `active`.
    #[schema(value_type = StatusName, example = "active")]
    pub status: &'static str,
}

/// Verify a guest's alert
///
/// Makes the alert active that the mail with the token was sent for, with a new initial price. A token works once, for 48
/// hours. An alert of the same guest that waits for the same is deleted.
#[utoipa::path(
    post,
    path = "/alerts/verify",
    tag = "Alerts",
    request_body(content = VerifyAlert, description = "The token"),
    responses(
        (status = 200, description = "The alert is active", body = Envelope<VerifiedAlert>),
        (status = 400, description = "The token was used already, or its time is over"),
        (status = 403, description = "The guest has 20 active alerts, and that is all; the token stays good"),
        (status = 404, description = "No such token"),
        (status = 503, description = "A percent change without a price of the stock, the token stays good; or the service is not available"),
    ),
    security(())
)]
pub(super) async fn verify_alert(
    State(app): State<App>,
    JsonObject(body): JsonObject,
) -> Result<Reply<VerifiedAlert>, ApiError> {
    let verified = app.service().guest_alerts.verify_guest_alert(&body).await?;
    Ok(Reply::ok(VerifiedAlert {
        alert_id: verified.id.0,
        symbol: verified.symbol.to_string(),
        status: verified.status.name(),
    }))
}
