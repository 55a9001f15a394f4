//! `POST /sms/status`

use axum::extract::State;
use http::{HeaderMap, StatusCode};

use super::form::FormFields;
use crate::app::App;
use crate::error::{ApiError, ErrorEnvelope};

const SIGNATURE: &str = "x-twilio-signature";

/// Report on a text message
///
/// Where the provider of text messages says what became of one. Only the provider can: it signs what it sends.
#[utoipa::path(
    post,
    path = "/sms/status",
    tag = "Messages",
    request_body(
        content = String,
        content_type = "application/x-www-form-urlencoded",
        description = "Twilio's form: `MessageSid`, `MessageStatus` and more"
    ),
    params(("X-Twilio-Signature" = String, Header, description = "The provider's signature over the URL and the form")),
    responses(
        (status = 204, description = "Noted"),
        (status = 403, description = "The signature is not the provider's", content_type = "application/json", body = ErrorEnvelope),
        (status = 404, description = "No such message, or no provider is configured"),
    ),
    security(())
)]
pub(super) async fn report_sms_status(
    State(app): State<App>,
    headers: HeaderMap,
    FormFields(fields): FormFields,
) -> Result<StatusCode, ApiError> {
    let Some(signature) = headers.get(SIGNATURE).and_then(|value| value.to_str().ok()) else {
        let message = "X-Twilio-Signature is missing; reports are taken from the provider alone";
        return Err(ApiError::forbidden("signature", None, message));
    };
    app.service().outbox.sms_status(&fields, signature).await?;
    Ok(StatusCode::NO_CONTENT)
}
