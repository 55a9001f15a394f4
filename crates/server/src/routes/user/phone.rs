//! `POST /user/account/phone`, `POST /user/account/phone/verify`

use axum::extract::State;
use serde::Serialize;
use service::identity::account::Phone;
use utoipa::ToSchema;

use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::WithSession;
use crate::body::JsonObject;
use crate::error::ApiError;
use crate::values::timestamp;

/// The number that is wanted.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
pub struct RequestPhone {
    /// The number in the form of E.164.
    #[schema(pattern = "^\\+[1-9][0-9]{7,14}$", example = "+14155550123")]
    phone: String,
    /// Must be true: they agree to be sent text messages.
    #[schema(example = true)]
    sms_consent: bool,
}

/// What was sent to a number.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the body; the service reads it")]
pub struct VerifyPhone {
    /// The number in the form of E.164.
    #[schema(pattern = "^\\+[1-9][0-9]{7,14}$", example = "+14155550123")]
    phone: String,
    /// The code, as a text: it may begin with zeros.
    #[schema(pattern = "^[0-9]{6}$", example = "042137")]
    token: String,
}

/// A number that a code was sent to.
#[derive(Debug, Serialize, ToSchema)]
pub struct RequestedPhone {
    /// The number.
    #[schema(example = "+14155550123")]
    pub phone: String,
    /// For how long the code is good, in seconds.
    #[schema(example = 600)]
    pub expires_in: i64,
}

/// A number that was shown to be its owner's.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct VerifiedPhone {
    /// The number.
    #[schema(example = "+14155550123")]
    pub phone: String,
    /// When they showed it.
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

/// Have a code sent to a telephone number
///
/// Six digits, good for ten minutes and five guesses; a new code ends the one before. At most three an hour and five a day go to a
/// number, and as many come of an account: 429 says when to come again. Until the code is shown the
/// account keeps the number it has.
#[utoipa::path(
    post,
    path = "/user/account/phone",
    tag = "User",
    request_body(content = RequestPhone, description = "The number that is wanted"),
    responses((status = 200, description = "A code is on its way", body = Envelope<RequestedPhone>)),
    security(("SessionCookie" = []))
)]
pub(super) async fn request_phone(
    State(app): State<App>,
    who: WithSession,
    JsonObject(body): JsonObject,
) -> Result<Reply<RequestedPhone>, ApiError> {
    let phone = app.service().account_settings.request_phone(&who.actor, &body).await?;
    Ok(Reply::ok(RequestedPhone {
        phone,
        expires_in: service::identity::account::PHONE_CODE_LIFE.as_secs(),
    }))
}

/// Verify a telephone number
///
/// By the code that was sent to it. From then on it is the number that text messages go to.
#[utoipa::path(
    post,
    path = "/user/account/phone/verify",
    tag = "User",
    request_body(content = VerifyPhone, description = "The number and the code"),
    responses(
        (status = 200, description = "The number is the account's", body = Envelope<VerifiedPhone>),
        (status = 400, description = "The code is wrong (the message says how many tries are left), or there is none that is good"),
    ),
    security(("SessionCookie" = []))
)]
pub(super) async fn verify_phone(
    State(app): State<App>,
    who: WithSession,
    JsonObject(body): JsonObject,
) -> Result<Reply<VerifiedPhone>, ApiError> {
    let phone = app.service().account_settings.verify_phone(&who.actor, &body).await?;
    Ok(Reply::ok(VerifiedPhone::of(&phone)))
}
