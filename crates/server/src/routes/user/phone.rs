//! `POST /user/account/phone`, `POST /user/account/phone/verify`

use accounts::identity::account::Phone;
use accounts::identity::requests::{PhoneCodeRequest, VerifyPhoneRequest};

use crate::routes::prelude::*;

/// A phone number to which a code was sent.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RequestedPhone)]
pub struct PhoneCodeResponse {
    /// Phone number.
    #[schema(example = "+14155550123")]
    pub phone: String,
    /// Lifetime of the code, in seconds.
    #[schema(example = 600)]
    pub expires_in: i64,
}

/// A verified phone number.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct VerifiedPhone {
    /// Phone number.
    #[schema(example = "+14155550123")]
    pub phone: String,
    /// Time of the verification.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub verified_at: String,
}

impl VerifiedPhone {
    pub(super) fn of(phone: &Phone) -> Self {
        Self {
            phone: phone.number.clone(),
            verified_at: timestamp(phone.verified_at),
        }
    }
}

/// Send a verification code to a phone number
///
/// Sends a code of six digits, valid for ten minutes and five attempts; a new code replaces the previous one. Limits: three codes
/// per hour and five per day, for each number and each account; beyond them the response is 429 with the time to wait. The account
/// keeps its current number until the code is verified.
#[utoipa::path(
    post,
    path = "/user/account/phone",
    tag = "User",
    request_body(content = PhoneCodeRequest, description = "The phone number"),
    responses((status = 200, description = "A code was sent", body = Envelope<PhoneCodeResponse>)),
    security(("SessionCookie" = []))
)]
pub(super) async fn request_phone(
    State(app): State<App>,
    caller: AuthenticatedSession,
    JsonObject(body): JsonObject,
) -> Result<ApiResponse<PhoneCodeResponse>, ApiError> {
    let phone = app
        .service()
        .account_settings
        .request_phone(&caller.actor, &body)
        .await?;
    Ok(ApiResponse::ok(PhoneCodeResponse {
        phone,
        expires_in: accounts::identity::account::PHONE_CODE_LIFETIME.as_secs(),
    }))
}

/// Verify a phone number
///
/// Verifies a number with the code sent to it. Text messages are sent to this number from then on.
#[utoipa::path(
    post,
    path = "/user/account/phone/verify",
    tag = "User",
    request_body(content = VerifyPhoneRequest, description = "The phone number and the code"),
    responses(
        (status = 200, description = "The phone number is verified", body = Envelope<VerifiedPhone>),
        (status = 400, description = "The code is wrong (the message contains the attempts left), or no valid code exists"),
    ),
    security(("SessionCookie" = []))
)]
pub(super) async fn verify_phone(
    State(app): State<App>,
    caller: AuthenticatedSession,
    JsonObject(body): JsonObject,
) -> Result<ApiResponse<VerifiedPhone>, ApiError> {
    let phone = app
        .service()
        .account_settings
        .verify_phone(&caller.actor, &body)
        .await?;
    Ok(ApiResponse::ok(VerifiedPhone::of(&phone)))
}
