//! Twilio status callbacks, which report whether a message was delivered.
//!
//! The callback URL is public, so Twilio signs its requests: HMAC-SHA1 with the secret of the account over the configured URL, followed
//! by the names and values of the form fields, sorted by name, without separators.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha1::Sha1;

/// Verifies that a callback is from Twilio. `url` is the configured callback URL, `params` are the decoded form fields, and
/// `signature` is the header `X-Twilio-Signature`.
#[must_use]
pub fn verify(auth_token: &str, url: &str, params: &[(String, String)], signature: &str) -> bool {
    let Ok(claimed) = STANDARD.decode(signature) else {
        return false;
    };
    let Ok(mut mac) = Hmac::<Sha1>::new_from_slice(auth_token.as_bytes()) else {
        return false;
    };
    let mut params: Vec<_> = params.iter().collect();
    params.sort();
    params.dedup();
    mac.update(url.as_bytes());
    for (name, value) in params {
        mac.update(name.as_bytes());
        mac.update(value.as_bytes());
    }
    // This compares in constant time.
    mac.verify_slice(&claimed).is_ok()
}

/// The delivery status of a text message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SmsStatus {
    /// The message is in progress.
    InProgress,
    /// The message was delivered to the phone.
    Delivered,
    /// The delivery failed.
    Failed,
}

/// The status report of a callback.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SmsStatusReport {
    /// The message: the [`provider_id`](crate::message_attempt::MessageAttempt::provider_id) of the attempt that sent it.
    pub sid: String,
    /// The delivery status.
    pub status: SmsStatus,
    /// The Twilio error code of a failed delivery.
    pub error_code: Option<u32>,
}

impl SmsStatusReport {
    /// Reads the form fields of a verified callback. `None` if it is not about a message.
    #[must_use]
    pub fn from_params(params: &[(String, String)]) -> Option<Self> {
        let field = |name| {
            params
                .iter()
                .find(|(found, _)| found == name)
                .map(|(_, value)| value.as_str())
        };
        let sid = field("MessageSid").or_else(|| field("SmsSid"))?;
        let status = field("MessageStatus").or_else(|| field("SmsStatus"))?;
        let sms_status = match status {
            "delivered" | "read" => SmsStatus::Delivered,
            "failed" | "undelivered" | "canceled" => SmsStatus::Failed,
            "accepted" | "scheduled" | "queued" | "sending" | "sent" => SmsStatus::InProgress,
            _ => return None,
        };
        Some(Self {
            sid: sid.to_owned(),
            status: sms_status,
            error_code: field("ErrorCode").and_then(|code| code.parse().ok()),
        })
    }
}
