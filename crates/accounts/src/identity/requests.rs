//! Request bodies about identity and account settings.

use foundation::request::{Email, Field, Line, Patch, PlainText, RefOr, Schema, TimeZoneName};
use foundation::request::{NamedSchema, add_component, formatted, reference, string};
use foundation::{enumerations, request, texts};
use jiff::Timestamp;
use serde_json::Value;
use store::model::QuietHours;

use super::account::preferences::read_quiet_hours;
use super::login::SignInMethod;
use crate::access::password;

texts! {
    /// A new password.
    NewPassword = |text| password::violation(text).map_or_else(|| Ok(text.to_owned()), Err),
        formatted("password").min_length(Some(8)).max_length(Some(200));
    /// A password to verify.
    Password = |text| Ok(text.to_owned()), formatted("password").min_length(Some(1));
    /// A phone number; its rules depend on the settings.
    PhoneNumber = |text| Ok(text.to_owned()), string().pattern(Some("^\\+[1-9][0-9]{7,14}$"));
    /// A code sent to a phone number.
    PhoneCode = |text| Ok(text.trim().to_owned()), string().pattern(Some("^[0-9]{6}$"));
}

enumerations! {
    /// The sign-in method: a password, or an emailed link.
    LoginTypeName of SignInMethod = SignInMethod::ALL, Some("password");
    /// The required confirmation for deleting an account.
    ConfirmationName = vec!["DELETE"], None;
}

/// The confirmation of a deletion.
pub struct Confirmation;

impl Field for Confirmation {
    fn read(value: &Value) -> Result<Self, String> {
        if value == "DELETE" { Ok(Self) } else { Self::absent() }
    }

    fn absent() -> Result<Self, String> {
        Err("is required and must be \"DELETE\": the account and all its data are deleted permanently".to_owned())
    }

    fn schema() -> RefOr<Schema> {
        reference("ConfirmationName")
    }

    fn components(schemas: &mut Vec<NamedSchema>) {
        add_component::<ConfirmationName>(schemas);
    }
}

/// The consent to text messages.
pub struct SmsConsent;

impl Field for SmsConsent {
    fn read(value: &Value) -> Result<Self, String> {
        if *value == Value::Bool(true) {
            Ok(Self)
        } else {
            Self::absent()
        }
    }

    fn absent() -> Result<Self, String> {
        Err("is required and must be true: text messages require consent".to_owned())
    }

    fn schema() -> RefOr<Schema> {
        bool::schema()
    }
}

/// Quiet hours, as `{start, end}`.
pub struct QuietHoursField(pub QuietHours);

impl Field for QuietHoursField {
    fn read(value: &Value) -> Result<Self, String> {
        read_quiet_hours(value).map(Self)
    }

    fn schema() -> RefOr<Schema> {
        reference("QuietHours")
    }
}

request! {
    /// A registration.
    RegisterRequest as "RegisterBody" {
        /// Email address.
        email: Email = "ann@example.com",
        /// Password.
        password: NewPassword,
        /// Full name.
        full_name: Option<Line<100>> = "Ann Example",
    }
}

request! {
    /// Sign-in credentials.
    LoginRequest as "LoginBody" {
        /// The account's email address.
        email: Email = "ann@example.com",
        /// The password; required unless `type` is `magic_link`.
        password: Option<Password>,
        /// Sign-in method: a password, or a link sent by email.
        r#type: Option<SignInMethod>,
    }
}

request! {
    /// The token of an emailed link.
    LinkTokenRequest as "LinkToken" {
        /// The token from the link.
        token: PlainText = "6n1JmXb0Pj6Cq5vVw3d9qjVZ0m1m4Yh2m8oXl1y7C9A",
    }
}

request! {
    /// The refresh token to exchange.
    RefreshTokenRequest as "RefreshBody" {
        /// The most recent refresh token.
        refresh_token: PlainText = "6n1JmXb0Pj6Cq5vVw3d9qjVZ0m1m4Yh2m8oXl1y7C9A",
    }
}

request! {
    /// The account whose password is forgotten.
    PasswordResetRequest as "RequestReset" {
        /// The account's email address.
        email: Email = "ann@example.com",
    }
}

request! {
    /// A new password with the token from the reset link.
    ConfirmPasswordResetRequest as "ConfirmReset" {
        /// The account's email address.
        email: Email = "ann@example.com",
        /// The token from the link.
        token: PlainText = "6n1JmXb0Pj6Cq5vVw3d9qjVZ0m1m4Yh2m8oXl1y7C9A",
        /// The new password.
        new_password: NewPassword,
    }
}

request! {
    /// The profile fields to change. Omitted fields keep their values.
    UpdateSessionRequest as "UpdateSession" {
        /// Full name; null removes it.
        full_name: Patch<Line<100>> = "Ann Example",
        /// IANA time zone.
        time_zone: Option<TimeZoneName> = "Europe/Berlin",
    }
}

request! {
    /// The preferences to change. Omitted fields keep their values.
    UpdatePreferencesRequest as "SetPreferences" {
        /// IANA time zone.
        time_zone: Option<TimeZoneName> = "Europe/Berlin",
        /// Quiet hours; null for none.
        quiet_hours: Patch<QuietHoursField>,
        /// End of an absence, during which messages about alerts are kept; null ends it.
        away_until: Patch<Timestamp> = "2026-08-15T08:00:00Z",
        /// Whether to send an email when alerts cannot be evaluated because quotes are outdated, and another when they can again.
        notify_blind: Option<bool>,
    }
}

request! {
    /// A request for a new email address.
    ChangeEmailRequest as "ChangeEmail" {
        /// New email address.
        email: Email = "ann@example.org",
    }
}

request! {
    /// The token of the link sent to the new address.
    ConfirmEmailRequest as "ConfirmEmail" {
        /// The token from the link in the email.
        token: PlainText = "6n1JmXb0Pj6Cq5vVw3d9qjVZ0m1m4Yh2m8oXl1y7C9A",
    }
}

request! {
    /// A request for a phone verification code.
    PhoneCodeRequest as "RequestPhone" {
        /// Phone number in E.164 format.
        phone: PhoneNumber = "+14155550123",
        /// Consent to receive text messages. Must be `true`.
        sms_consent: SmsConsent = true,
    }
}

request! {
    /// A phone number with the verification code sent to it.
    VerifyPhoneRequest as "VerifyPhone" {
        /// Phone number in E.164 format.
        phone: PhoneNumber = "+14155550123",
        /// The code, as a string because it may start with zeros.
        token: PhoneCode = "042137",
    }
}

request! {
    /// The new and the current password.
    ChangePasswordRequest as "ChangePassword" {
        /// Current password; required unless the account has none.
        current_password: Option<Password>,
        /// New password.
        new_password: NewPassword,
    }
}

request! {
    /// Confirmation of the deletion.
    DeleteAccountRequest as "DeleteAccount" {
        /// Must be `DELETE`.
        confirmation: Confirmation,
    }
}
