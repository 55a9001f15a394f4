//! `POST /sms/status`

use crate::error::ErrorEnvelope;
use crate::routes::prelude::*;

const TWILIO_SIGNATURE_HEADER: &str = "x-twilio-signature";

/// Report the status of a text message
///
/// Callback for delivery reports of the SMS provider. Only the provider can call it, because requests are signed.
#[utoipa::path(
    post,
    path = "/sms/status",
    tag = "Messages",
    request_body(
        content = String,
        content_type = "application/x-www-form-urlencoded",
        description = "Twilio's form: `MessageSid`, `MessageStatus` and more"
    ),
    params(("X-Twilio-Signature" = String, Header, description = "The provider's signature of the URL and the form")),
    responses(
        (status = 204, description = "The report was recorded"),
        (status = 403, description = "The signature is not the provider's", content_type = "application/json", body = ErrorEnvelope),
        (status = 404, description = "Message not found, or no provider is configured"),
    ),
    security(())
)]
pub(super) async fn report_sms_status(
    State(app): State<App>,
    headers: HeaderMap,
    FormFields(fields): FormFields,
) -> Result<StatusCode, ApiError> {
    let Some(signature) = headers
        .get(TWILIO_SIGNATURE_HEADER)
        .and_then(|value| value.to_str().ok())
    else {
        let message = "X-Twilio-Signature is missing; only the provider can send reports";
        return Err(ApiError::forbidden("signature", None, message));
    };
    app.service().outbox.sms_status(&fields, signature).await?;
    Ok(StatusCode::NO_CONTENT)
}
