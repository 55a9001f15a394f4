//! `POST /auth/register`

use accounts::identity::requests::RegisterRequest;

use super::view::MessageResponse;
use crate::routes::prelude::*;

/// Register
///
/// Mails a confirmation link to the address or, if it already has an account, a link to the sign-in page. The response is the
/// same in both cases.
#[utoipa::path(
    post,
    path = "/auth/register",
    tag = "Identity",
    request_body(content = RegisterRequest, description = "The registration"),
    responses(
        (status = 201,
         description = "Accepted; `message` says whether an email was sent or stored in the outbox",
         body = Envelope<MessageResponse>),
        (status = 403, description = "Registration is closed; `details.reason` is `registration_closed`"),
    ),
)]
pub(super) async fn register(
    State(app): State<App>,
    JsonObject(body): JsonObject,
) -> Result<ApiResponse<MessageResponse>, ApiError> {
    app.service().identity.register(&body).await?;
    let message = if app.service().identity.sends_mail() {
        "an email was sent to this address; open the link in it"
    } else {
        "this service does not send email; the operator finds the link for this address in the outbox (GET /outbox)"
    };
    Ok(ApiResponse::with(StatusCode::CREATED, MessageResponse { message }))
}
