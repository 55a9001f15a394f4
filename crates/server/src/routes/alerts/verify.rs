//! `POST /alerts/verify`

use service::alerts::VerifyAlertRequest;

use crate::document::names::StatusName;
use crate::routes::prelude::*;

/// A verified guest alert.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = VerifiedAlert)]
pub struct VerifiedAlertResponse {
    /// Unique id.
    pub alert_id: Uuid,
    /// Stock symbol.
    #[schema(example = "AAPL")]
    pub symbol: String,
    /// Always `active`.
    #[schema(value_type = StatusName, example = "active")]
    pub status: &'static str,
}

/// Verify a guest alert
///
/// Activates the alert that belongs to the token, with a new initial price. A token is valid once and for 48 hours. An
/// equivalent alert of the same guest is deleted.
#[utoipa::path(
    post,
    path = "/alerts/verify",
    tag = "Alerts",
    request_body(content = VerifyAlertRequest, description = "The token"),
    responses(
        (status = 200, description = "The alert is active", body = Envelope<VerifiedAlertResponse>),
        (status = 400, description = "The token was already used or has expired"),
        (status = 403, description = "The guest already has 20 active alerts, the maximum; the token stays valid"),
        (status = 404, description = "Token not found"),
        (status = 503, description = "A percent change has no price of the stock (the token stays valid), or the service is not available"),
    ),
    security(())
)]
pub(super) async fn verify_alert(
    State(app): State<App>,
    JsonObject(body): JsonObject,
) -> Result<ApiResponse<VerifiedAlertResponse>, ApiError> {
    let verified = app.service().guest_alerts.verify_guest_alert(&body).await?;
    Ok(ApiResponse::ok(VerifiedAlertResponse {
        alert_id: verified.id.0,
        symbol: verified.symbol.to_string(),
        status: verified.status.name(),
    }))
}
