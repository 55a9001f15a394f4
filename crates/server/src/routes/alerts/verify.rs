//! `POST /alerts/verify`

use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::answer::{Envelope, Reply};
use crate::body::JsonObject;
use crate::document::names::StatusName;
use crate::error::ApiError;

/// The token of a guest's mail.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the handler reads it")]
pub struct VerifyAlert {
    /// The token, as the link in the mail has it.
    #[schema(min_length = 1, example = "vt_4f9a1c")]
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
/// Makes the alert active that the mail with the token was sent for. A token works once, for 48 hours.
#[utoipa::path(
    post,
    path = "/alerts/verify",
    tag = "Alerts",
    request_body(content = VerifyAlert, description = "The token"),
    responses(
        (status = 200, description = "The alert is active", body = Envelope<VerifiedAlert>),
        (status = 404, description = "No such token"),
    ),
    security(())
)]
pub(super) async fn verify_alert(JsonObject(body): JsonObject) -> Result<Reply<VerifiedAlert>, ApiError> {
    match body.get("token").and_then(serde_json::Value::as_str).map(str::trim) {
        None => Err(ApiError::field(
            "token",
            "is required; give the token of the mail as a string",
        )),
        Some("") => Err(ApiError::field(
            "token",
            "must not be empty; give the token of the mail",
        )),
        // Guests' alerts come with mail: until then no token was ever given out.
        Some(_) => Err(service::ServiceError::NotFound("token").into()),
    }
}
